import type { ModelTraits } from "../canon/traits.ts";
import type { Model, Offer } from "../catalogue/model.ts";
import { traitsOf } from "../catalogue/offer-traits.ts";
import type { PriceList } from "../catalogue/price-call.ts";
import type { UpstreamCodec } from "../dialects/codec.ts";
import type { NativeHost } from "../dialects/dialect.ts";
import type { LiveDialectName } from "../dialects/live-dialect.ts";
import type { DialectRegistry } from "../dialects/registry.ts";
import type { ImageAdapter, VideoAdapter } from "../media/adapter.ts";
import type { Framing, Provider } from "../providers/provider.ts";
import type { ServiceAdapters, ServiceName } from "../services/service-adapters.ts";
import { SERVED_KINDS } from "./served-kinds.ts";

/** One way to serve a model: one offer, called in one way. Derived only from the configuration. */
export interface Target<Via extends string = string> extends PriceList {
  /** Stable across configurations. */
  readonly id: string;
  readonly model: Model;
  readonly offer: Offer;
  readonly provider: Provider;
  /** The label of the provider's credential, never the key; empty if there is only one. */
  readonly credential: string;
  /** Its share of calls among the provider's credentials. */
  readonly credentialWeight: number;
  /** The dialect in which the provider is called. */
  readonly via: Via;
  /** The codec of the dialect, if the target serves conversations. */
  readonly codec?: UpstreamCodec;
}

/** A target that serves conversations. */
export interface TextTarget extends Target, Readonly<NativeHost> {
  readonly codec: UpstreamCodec;
  /** The family whose opaque values it can read. */
  readonly origin: string;
  readonly framing: Framing;
  readonly countsTokens: boolean;
  /** It can continue a partial response. */
  readonly goesOn: boolean;
  /** The calls that it serves, if its offer uses a separate dialect for calls with tools; all if absent. */
  readonly only?: "with tools" | "without tools";
}

/** A target that generates images or videos through the provider's own API. */
export interface MediaTarget<Adapter> extends Target<"media"> {
  readonly adapter: Adapter;
}

export type ImageTarget = MediaTarget<ImageAdapter>;
export type VideoTarget = MediaTarget<VideoAdapter>;

/** A target of a service, by the provider's own API for it. */
export interface ServiceTarget<Name extends ServiceName = ServiceName> extends Target<"service"> {
  readonly adapter: ServiceAdapters[Name];
}

/** A target of live connections, by the protocol in which its host is reached. */
export type LiveTarget = Target<LiveDialectName>;

/** The targets of one offer. */
export interface OfferTargets {
  /** For each credential, one per dialect in which the provider serves the model, the best first. */
  readonly text: readonly TextTarget[];
  /** One for each credential, or none. */
  readonly image: readonly ImageTarget[];
  readonly video: readonly VideoTarget[];
  readonly live: readonly LiveTarget[];
  readonly services: { readonly [Name in ServiceName]: readonly ServiceTarget<Name>[] };
}

/** The known dialects, and the names of host families (`originsOf`). */
export interface Spoken {
  dialects: DialectRegistry;
  origins: ReadonlySet<string>;
}

/** `providers` has one for each credential of the offer's provider. */
export function targetsOf(model: Model, offer: Offer, providers: readonly Provider[], spoken: Spoken): OfferTargets {
  const text: TextTarget[] = [];
  const image: ImageTarget[] = [];
  const video: VideoTarget[] = [];
  const live: LiveTarget[] = [];
  const traits = traitsOf(model, offer);
  for (const provider of providers) {
    const { upstreamModel } = offer;
    for (const { via, only } of waysOf(offer, traits, provider)) {
      const codec = spoken.dialects.codec(via);
      if (!codec) continue;
      const target = textTarget(targetVia(via, model, offer, provider), traits, codec, spoken.origins);
      text.push(only === undefined ? target : { ...target, only });
    }
    const protocol = provider.liveDialect(offer.dialect, hearsAndSpeaks(model));
    if (protocol !== undefined) live.push(targetVia(protocol, model, offer, provider));
    const media = targetVia("media", model, offer, provider);
    const images = provider.media?.images(upstreamModel);
    const videos = provider.media?.videos(upstreamModel);
    if (images) image.push({ ...media, adapter: images });
    if (videos) video.push({ ...media, adapter: videos });
  }
  const serviceTargets = <Name extends ServiceName>(name: Name): readonly ServiceTarget<Name>[] => {
    const { kind, dialect } = SERVED_KINDS[name];
    if (model.kind !== kind) return [];
    return providers.flatMap((provider) => {
      const spoken = provider.dialectsFor(offer.upstreamModel, offer.dialect);
      if (dialect !== undefined && !spoken.includes(dialect)) return [];
      const adapter = provider.services?.adapter(name, offer.upstreamModel);
      return adapter === undefined ? [] : [{ ...targetVia("service", model, offer, provider), adapter }];
    });
  };
  const services = {
    embeddings: serviceTargets("embeddings"),
    rerank: serviceTargets("rerank"),
    speech: serviceTargets("speech"),
    transcriptions: serviceTargets("transcriptions"),
    translations: serviceTargets("translations"),
    moderations: serviceTargets("moderations"),
    completions: serviceTargets("completions"),
    compactions: serviceTargets("compactions"),
    caches: serviceTargets("caches"),
  };
  return { text, image, video, live, services };
}

const hearsAndSpeaks = ({ kind, inputModalities, outputModalities }: Model): boolean =>
  kind === "text" && inputModalities.includes("audio") && outputModalities.includes("audio");

interface Way {
  via: string;
  only: TextTarget["only"];
}

/**
 * The dialects of an offer, the best first. If calls with tools need a separate dialect, the others serve only calls without. A
 * dialect that the offer names for tools serves nothing else.
 */
function waysOf({ upstreamModel, dialect, toolsDialect }: Offer, traits: ModelTraits, provider: Provider): Way[] {
  const served = bestFirst(provider.dialectsFor(upstreamModel, dialect), traits, provider);
  const known = provider.atHome && dialect === undefined ? traits.toolsDialect : undefined;
  const [forTools] = toolsDialect === undefined ? [] : provider.dialectsFor(upstreamModel, toolsDialect);
  const tools = forTools ?? (known !== undefined && served.includes(known) ? known : undefined);
  // The vendor rejects tools in the only dialects in which it is configured.
  const rejected = known !== undefined && tools === undefined;
  if (tools === undefined) return served.map((via) => ({ via, only: rejected ? "without tools" : undefined }));
  const ways = served.map((via): Way => ({ via, only: via === tools ? undefined : "without tools" }));
  return served.includes(tools) ? ways : [...ways, { via: tools, only: "with tools" }];
}

/** The best dialect of a model is known only for its vendor's own host. Elsewhere the host's order applies. */
function bestFirst(dialects: readonly string[], { bestDialect }: ModelTraits, { atHome }: Provider): readonly string[] {
  if (bestDialect === undefined || !atHome || !dialects.includes(bestDialect)) return dialects;
  return [bestDialect, ...dialects.filter((dialect) => dialect !== bestDialect)];
}

function targetVia<Via extends string>(via: Via, model: Model, offer: Offer, provider: Provider): Target<Via> {
  const { name, credential, weight: credentialWeight } = provider;
  const id = `${model.id} ${name} ${offer.upstreamModel} ${via}${credential && ` ${credential}`}`;
  const { pricings, priceMultiples, toolPrices } = offer;
  return { id, model, offer, provider, credential, credentialWeight, via, pricings, priceMultiples, toolPrices };
}

function textTarget(
  target: Target<string>,
  traits: ModelTraits,
  codec: UpstreamCodec,
  origins: ReadonlySet<string>,
): TextTarget {
  const { offer, provider, via } = target;
  const origin = provider.originOf(codec, offer.upstreamModel);
  const quirks = provider.quirksOf(via);
  const prefill = offer.prefill ?? traits.prefill;
  return {
    ...target,
    codec,
    quirks,
    traits: prefill === undefined || prefill === traits.prefill ? traits : { ...traits, prefill },
    origin,
    framing: provider.framingOf(via),
    countsTokens: provider.countsTokens(via),
    goesOn: prefill ?? codec.goesOn?.(quirks) ?? false,
    isForeignOrigin: (word) => origins.has(word) && word !== origin,
  };
}
