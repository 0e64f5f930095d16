import { GatewayError } from "../canon/error.ts";
import type { Model, Offer } from "../catalogue/model.ts";
import type { Provider } from "../providers/provider.ts";
import { originsOf, type Registry } from "../providers/registry.ts";
import type { ServiceName } from "../services/service-adapters.ts";
import { Candidates } from "./candidates.ts";
import { SERVED_KINDS } from "./served-kinds.ts";
import {
  type ImageTarget,
  type LiveTarget,
  type OfferTargets,
  type ServiceTarget,
  type Target,
  type TextTarget,
  targetsOf,
  type VideoTarget,
} from "./target.ts";

/** Every target of a configuration. Made once with it, so that no call derives them again. */
export class Targets {
  readonly #byOffer = new Map<Offer, OfferTargets>();
  /** By the client's dialect and, if it matters, whether the call has tools; then by `offersKey`. */
  readonly #text = new Map<string, Map<object, Candidates<TextTarget>>>();
  readonly #turns = new Map<Model, number>();
  /** Models with an offer that uses a separate dialect for calls with tools. */
  readonly #splitByTools = new Set<Model>();

  constructor(models: readonly Model[], providers: ReadonlyMap<string, readonly Provider[]>, registry: Registry) {
    const spoken = { dialects: registry.dialects, origins: originsOf(registry) };
    for (const model of models) {
      for (const offer of model.offers) {
        const made = targetsOf(model, offer, providers.get(offer.provider) ?? [], spoken);
        this.#byOffer.set(offer, made);
        if (made.text.some(({ only }) => only !== undefined)) this.#splitByTools.add(model);
      }
    }
  }

  /** Whether tools change the targets of a model. */
  splitsByTools(model: Model): boolean {
    return this.#splitByTools.has(model);
  }

  /**
   * The candidates for conversations in a client's dialect: all offers of the model, or those of one provider. `tools`: the call
   * has tools, which some models accept in only one dialect.
   */
  text(model: Model, offers: readonly Offer[], dialect: string, tools = false): Candidates<TextTarget> {
    const split = this.#splitByTools.has(model);
    const group = split && tools ? `${dialect} with tools` : dialect;
    let known = this.#text.get(group);
    if (known === undefined) {
      known = new Map();
      this.#text.set(group, known);
    }
    const key = offersKey(model, offers);
    const found = known.get(key);
    if (found !== undefined) return found;
    const targets = this.#textTargets(model, offers);
    const excluded = tools ? "without tools" : "with tools";
    const serving = split ? targets.filter(({ only }) => only !== excluded) : targets;
    if (serving.length === 0) throw toolsRejected(model, targets);
    const made = new Candidates(serving, dialect);
    known.set(key, made);
    return made;
  }

  /** Offer by offer in the catalogue's order. */
  #textTargets(model: Model, offers: readonly Offer[]): readonly TextTarget[] {
    const found = offers.flatMap((offer) => this.#byOffer.get(offer)?.text ?? []);
    if (found.length > 0) return found;
    if (offers.some((offer) => (this.#byOffer.get(offer)?.live.length ?? 0) > 0))
      throw wrongModel(
        `${model.id} is served only on live connections. Open one at GET /v1/realtime?model=${model.id}.`,
      );
    const message = `None of the providers of ${model.id} (${namesOf(offers)}) can serve it as configured.`;
    throw new GatewayError("not_found", message, { path: "model" });
  }

  /** The text targets of an offer: for each credential, one per dialect. */
  textOf(offer: Offer): readonly TextTarget[] {
    return this.#byOffer.get(offer)?.text ?? [];
  }

  /** Whether one of the offers serves conversations. */
  serveText(offers: readonly Offer[]): boolean {
    return offers.some((offer) => (this.#byOffer.get(offer)?.text.length ?? 0) > 0);
  }

  /** Every target of every offer. */
  *all(): Generator<Target> {
    for (const { text, image, video, live, services } of this.#byOffer.values()) {
      yield* text;
      yield* image;
      yield* video;
      yield* live;
      yield* Object.values<readonly Target[]>(services).flat();
    }
  }

  /** The number of the model's next call, for round robin. */
  nextTurn(model: Model): number {
    const turn = this.#turns.get(model) ?? 0;
    this.#turns.set(model, turn + 1);
    return turn;
  }

  images(model: Model, offers: readonly Offer[]): readonly ImageTarget[] {
    return this.#media(model, offers, "image");
  }

  videos(model: Model, offers: readonly Offer[]): readonly VideoTarget[] {
    return this.#media(model, offers, "video");
  }

  service<Name extends ServiceName>(
    name: Name,
    model: Model,
    offers: readonly Offer[],
  ): readonly ServiceTarget<Name>[] {
    const { kind, makes, instead } = SERVED_KINDS[name];
    const advice = instead === undefined ? "" : ` ${instead}`;
    if (model.kind !== kind)
      throw wrongModel(`${model.id} produces ${outputsOf(model)}, not ${makes}.${advice || ` ${SEE_LIST}`}`);
    const found = offers.flatMap(
      (offer): readonly ServiceTarget<Name>[] => this.#byOffer.get(offer)?.services[name] ?? [],
    );
    if (found.length > 0) return found;
    throw wrongModel(`None of the providers of ${model.id} (${namesOf(offers)}) produces ${makes} with it.${advice}`);
  }

  /** Every way to open a live connection to the model. */
  live(model: Model, offers: readonly Offer[]): readonly LiveTarget[] {
    const found = offers.flatMap((offer) => this.#byOffer.get(offer)?.live ?? []);
    if (found.length > 0) return found;
    throw wrongModel(
      `The providers of ${model.id} (${namesOf(offers)}) have no live connections to it. A model has them if it hears and speaks, ` +
        "or if its offer has the dialect realtime or live.",
    );
  }

  #media<Kind extends "image" | "video">(model: Model, offers: readonly Offer[], kind: Kind) {
    if (!model.outputModalities.includes(kind)) {
      throw wrongModel(`${model.id} produces ${outputsOf(model)}, not ${kind}s. ${SEE_LIST}`);
    }
    const found = offers.flatMap(
      (offer): readonly OfferTargets[Kind][number][] => this.#byOffer.get(offer)?.[kind] ?? [],
    );
    if (found.length > 0) return found;
    throw wrongModel(`None of the providers of ${model.id} (${namesOf(offers)}) produces ${kind}s with it.`);
  }
}

/** The model itself stands for all of its offers. For a pinned provider, its first offer does. */
const offersKey = (model: Model, offers: readonly Offer[]): object =>
  offers === model.offers ? model : (offers[0] ?? model);

const SEE_LIST = "The model list shows the output_modalities of each model.";

const outputsOf = ({ outputModalities }: Model): string => outputModalities.join(" and ");

const wrongModel = (message: string): GatewayError =>
  new GatewayError("invalid_request", message, { path: "model", code: "model_not_supported" });

const namesOf = (offers: readonly Offer[]): string => offers.map((offer) => offer.provider).join(", ");

/** The vendor accepts tools for this model only in a dialect that its providers are not configured for. */
function toolsRejected({ id }: Model, targets: readonly TextTarget[]): GatewayError {
  const dialect = targets.find(({ traits }) => traits.toolsDialect !== undefined)?.traits.toolsDialect ?? "another";
  const names = [...new Set(targets.map(({ provider }) => provider.name))];
  const message =
    `${id} accepts tools only in the protocol ${dialect}, for which its providers (${names.join(", ")}) are not configured. ` +
    `Add ${dialect} to providers.${names[0]}.dialects.`;
  return new GatewayError("invalid_request", message, { path: "tools" });
}
