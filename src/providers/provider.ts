import { isLoopbackUrl } from "../base/address-class.ts";
import type { Secret } from "../base/secret.ts";
import type { Sources } from "../base/sources.ts";
import type { BillingTable } from "../canon/billable.ts";
import type { GatewayError } from "../canon/error.ts";
import type { OfferTraits } from "../canon/offer-traits.ts";
import type { ProviderSettings } from "../config/config.ts";
import type { UpstreamCodec } from "../dialects/codec.ts";
import { DEFAULT_LIVE_QUIRKS, type LiveQuirks } from "../dialects/live/quirks.ts";
import type { LiveDialectName } from "../dialects/live-dialect.ts";
import { type DeclaredQuirks, type Quirks, quirksOf } from "../dialects/quirks.ts";
import type { MediaQuirks } from "../dialects/request/media-quirks.ts";
import type { MediaAdapters } from "../media/adapter.ts";
import type { ServiceDeclaration } from "../services/service-adapters.ts";
import type { BatchApi } from "./batches/batch-api.ts";
import { ProviderBatches } from "./batches/provider-batches.ts";
import { credentialDigest } from "./credential-digest.ts";
import type { Authenticator, OutgoingRequest, Signer } from "./credentials.ts";
import type { FilesApi } from "./files/files-api.ts";
import { ProviderFiles } from "./files/provider-files.ts";
import { type LiveHost, type LiveHosts, USUAL_LIVE_HOSTS } from "./live-host.ts";
import { ProviderMedia } from "./media-adapters/provider-media.ts";
import { type FailedProvider, nameProvider } from "./name-provider.ts";
import { ProviderServices } from "./provider-services.ts";
import { redactText } from "./redact-text.ts";

export type Verb = "generate" | "count_tokens";

/** The facts of a call that its URL and headers depend on. */
export interface UpstreamCall<Options = unknown> {
  dialect: string;
  verb: Verb;
  model: string;
  stream: boolean;
  /** Options of the client's dialect that are sent outside the body; undefined if there are none. */
  options: Options | undefined;
}

export interface UpstreamEndpoint {
  url: string;
  headers: Record<string, string>;
}

/** A request that tries a credential, with statuses that mean a bad one in addition to the usual ones. */
interface Probe extends UpstreamEndpoint {
  rejections: readonly number[];
}

/** Where a live connection is opened, and as what model. */
export interface LiveEndpoint extends UpstreamEndpoint {
  model: string;
}

/** Members to remove from the JSON that is sent, and members to set in it. */
export interface BodyPatch {
  remove: readonly string[];
  set: Readonly<Record<string, unknown>>;
}

/** How an answer's events are framed on the socket. */
export type Framing = "sse" | "aws-event-stream";

/** How one dialect is reached at a provider. */
export interface SpokenDialect {
  /** The dialect's base URL, for hosts with another one for it. It is not used with a configured `base_url`. */
  baseUrl?: string;
  generate: (call: UpstreamCall, settings: ProviderSettings) => string;
  /** Absent where the provider has no token counter: the gateway then estimates. */
  countTokens?: (call: UpstreamCall, settings: ProviderSettings) => string;
  headers?(call: UpstreamCall): Record<string, string>;
  /** A host at a configured `base_url` may not support it: it is used there only if `dialects` lists it. */
  optional?: true;
  /** Used only for offers that name it. */
  byName?: true;
  /** Whether the host serves a model, by its upstream name, in this dialect; absent: all. */
  serves?: (model: string, settings: ProviderSettings) => boolean;
  /** Default: server-sent events. */
  framing?: Framing;
  /** Where the host's body differs from the dialect's own. */
  body?: { remove?: readonly string[]; set?(call: UpstreamCall): Record<string, unknown> };
  /** The origin of opaque values that the host reads, where that is not the dialect's family or, for chat and converse, the kind. */
  origin?: string | ((model: string) => string);
}

/** A provider is a declaration: where, how to authenticate, which dialects, its quirks. */
export interface ProviderDeclaration {
  kind: string;
  /** Publisher prefixes of the catalogue whose models this kind serves. */
  publishers: readonly string[];
  /** The usual environment variables: when all are set, the provider is enabled without any configuration. */
  variables?: Readonly<Record<string, string>>;
  /** Its name in OpenTelemetry's conventions; its kind if they have none. */
  systemName?: string;
  /** It belongs to the operator of the gateway, so it receives the trace context of calls. */
  tracesCalls?: true;
  fields: { required: readonly string[]; optional: readonly string[] };
  baseUrl: (settings: ProviderSettings) => string;
  authenticate: (settings: ProviderSettings, sources: Sources) => Authenticator;
  /** A free GET that is rejected without a valid credential. Absent if the host has none. */
  probe?: {
    path: string | ((settings: ProviderSettings) => string);
    headers?: Readonly<Record<string, string>>;
    /** Statuses that mean a bad credential here, in addition to 401, 402 and 403. */
    rejections?: readonly number[];
  };
  /** Signs each outgoing request; undefined if the kind of credential needs no signature. */
  sign?: (settings: ProviderSettings, sources: Sources) => Signer | undefined;
  /** By dialect, the best first for clients of every other one. */
  dialects: Readonly<Record<string, SpokenDialect>>;
  quirks?: DeclaredQuirks;
  /** The media adapters, where the provider makes images or videos. */
  media?: MediaAdapters;
  /** The adapters of its other APIs: embeddings, ranking. */
  services?: ServiceDeclaration;
  /** By protocol of live connections. Absent: only offers that name one use the usual addresses. */
  live?: LiveHosts;
  /** The batch API of the vendor's own host. A host at another address may lack it: it is used there only if `batch` is set. */
  batches?: BatchApi;
  /** The files APIs of the vendor's own host, for its dialects. A host at another address may lack them: they are used there only if `files` is set. */
  files?: readonly FilesApi[];
  /** The largest request that the host accepts. Files that do not fit are uploaded to it. Absent: unknown. */
  maxRequestBytes?: number;
  /** The vendor's word for itself in requests, as the owner of objects that every account has, such as its own skills. */
  publicOwner?: string;
  /** Matches the names of hosts that store files uploaded to the vendor. Files at its other hosts are public. */
  filesHost?: RegExp;
  /** What of the vendor can cost money besides ordinary tokens; without it, nothing of that has a known price. */
  billing?: BillingTable;
}

/** The maximum length of a provider's text that is passed on. */
const MAX_TEXT = 2000;

/**
 * The SDKs give up after ten minutes, so no client waits longer for content. The longest responses in the catalogue, 128,000
 * tokens at twenty per second, take less than two hours.
 */
export const DEFAULT_TIMEOUTS_MS = { firstByte: 60_000, idle: 120_000, content: 600_000, total: 7_200_000 };

const LIVE_DIALECTS = ["realtime", "live"] as const satisfies readonly LiveDialectName[];

/** A dialect with its own base URL is only used there, not at a configured base URL. */
export function spokenAt(baseUrl: string | undefined, { dialects }: Pick<ProviderDeclaration, "dialects">): string[] {
  const all = Object.keys(dialects);
  return all.filter((dialect) => baseUrl === undefined || dialects[dialect]?.baseUrl === undefined);
}

/** Whether hosts of this kind have a usual address, which a configured base URL replaces. */
export const hasAddress = ({ required }: ProviderDeclaration["fields"]): boolean => !required.includes("base_url");

/**
 * The kind says what a host is: the vendor's regional addresses and a company's proxy in front of it are the vendor's. What
 * listens on this machine stands in for it, unless the configuration says otherwise. So does a self-hosted server elsewhere, whose version
 * is unknown.
 */
function isHome({ baseUrl, home }: ProviderSettings, { fields, tracesCalls }: ProviderDeclaration): boolean {
  if (baseUrl === undefined) return true;
  return hasAddress(fields) && (home ?? (tracesCalls !== true && !isLoopbackUrl(baseUrl)));
}

/**
 * A configured provider with one credential; a provider with several has one of these for each. Its destination and credential
 * come only from the configuration; no call can change them (S07).
 */
export class Provider {
  readonly name: string;
  /** Host and port of its base URL, for people to read. */
  readonly host: string;
  /** A digest of its base URL and credential. */
  readonly digest: string;
  /** Which of several credentials it has: a label, never the key; empty if there is only one. */
  readonly credential: string;
  /** The field of the configuration that has it. */
  readonly credentialField: string;
  /** The share of calls that go to this credential, compared with the provider's others. */
  readonly weight: number;
  /** What the operator states about its offers. */
  readonly stated: OfferTraits | undefined;
  readonly systemName: string;
  readonly tracesCalls: boolean;
  readonly publishers: readonly string[];
  readonly dialects: readonly string[];
  /** It is called at its vendor's own address. */
  readonly atHome: boolean;
  readonly timeoutMs: typeof DEFAULT_TIMEOUTS_MS;
  /** For an answer that is not streamed, which begins when it is complete: its first byte may come as late as content, unless configured. */
  readonly wholeTimeoutMs: typeof DEFAULT_TIMEOUTS_MS;
  /** Undefined if the provider generates neither images nor videos. */
  readonly media: ProviderMedia | undefined;
  /** Undefined if the provider only serves conversations and media. */
  readonly services: ProviderServices | undefined;
  /** Undefined if the provider has no batch API. */
  readonly batches: ProviderBatches | undefined;
  /** Empty if the provider has no files API. */
  readonly files: readonly ProviderFiles[];
  /** Undefined if it is unknown. */
  readonly maxRequestBytes: number | undefined;
  readonly billing: BillingTable | undefined;
  readonly #declaration: ProviderDeclaration;
  readonly #settings: ProviderSettings;
  readonly #baseUrl: string;
  readonly #authenticate: Authenticator;
  readonly #sign: Signer | undefined;
  readonly #failed: FailedProvider;
  /** The dialects that an offer may name: `dialects`, and those that are not used at this address by default. */
  readonly #nameable: readonly string[];
  readonly #quirks = new Map<string, MediaQuirks>();
  #lastUrl = { base: "", path: "", url: "" };
  readonly #kept = new Map<string, { credential: Record<string, string>; headers: Record<string, string> }>();

  constructor(declaration: ProviderDeclaration, settings: ProviderSettings, sources: Sources) {
    this.name = settings.name;
    this.systemName = declaration.systemName ?? declaration.kind.replaceAll(/[-.]/g, "_");
    this.tracesCalls = settings.traceContext ?? declaration.tracesCalls ?? false;
    this.publishers = declaration.publishers;
    this.atHome = isHome(settings, declaration);
    const spoken = spokenAt(settings.baseUrl, declaration);
    const enabled = spoken.filter((dialect) => {
      const { optional, byName } = declaration.dialects[dialect] ?? {};
      return !byName && (this.atHome || !optional);
    });
    this.dialects = settings.dialects?.filter((dialect) => spoken.includes(dialect)) ?? enabled;
    this.#nameable = settings.dialects === undefined ? spoken : this.dialects;
    this.timeoutMs = { ...DEFAULT_TIMEOUTS_MS, ...settings.timeoutMs };
    const { content } = this.timeoutMs;
    this.wholeTimeoutMs = { ...this.timeoutMs, firstByte: settings.timeoutMs?.firstByte ?? content };
    this.#declaration = declaration;
    this.#settings = settings;
    this.#baseUrl = (settings.baseUrl ?? declaration.baseUrl(settings)).replace(/\/+$/, "");
    this.host = URL.canParse(this.#baseUrl) ? new URL(this.#baseUrl).host : "";
    this.digest = credentialDigest(settings, this.#baseUrl);
    this.credential = settings.credential?.label ?? "";
    this.weight = settings.credential?.weight ?? 1;
    this.stated = settings.traits;
    this.#authenticate = declaration.authenticate(settings, sources);
    this.credentialField = credentialField(settings);
    this.#failed = { name: settings.name, host: this.host, credential: this.credentialField };
    this.#sign = declaration.sign?.(settings, sources);
    const access = {
      settings,
      baseUrl: this.#baseUrl,
      authenticate: this.#authenticate,
      sign: this.#sign,
      random: sources.random,
    };
    this.media = declaration.media && new ProviderMedia(declaration.media, access);
    this.billing = declaration.billing;
    this.services = declaration.services && new ProviderServices(declaration.services, access);
    const { batches } = declaration;
    this.batches = batches && (settings.batch ?? this.atHome) ? new ProviderBatches(batches, access) : undefined;
    const { files = [] } = declaration;
    this.files = (settings.files ?? this.atHome) ? files.map((api) => new ProviderFiles(api, access)) : [];
    this.maxRequestBytes = declaration.maxRequestBytes;
    for (const dialect of this.dialects) {
      this.#quirks.set(dialect, quirksOf(dialect, declaration.quirks));
    }
  }

  speaks(dialect: string): boolean {
    return this.dialects.includes(dialect);
  }

  /** The dialects in which this model is served, the best first; only one if its offer names it. */
  dialectsFor(upstreamModel: string, named?: string): readonly string[] {
    const spoken = named === undefined ? this.dialects : this.#nameable.filter((dialect) => dialect === named);
    return spoken.filter((dialect) => this.#spoken(dialect).serves?.(upstreamModel, this.#settings) ?? true);
  }

  /** Apart from those of media, only the dialect itself knows what they mean. */
  quirksOf<Name extends keyof Quirks>(dialect: Name): Quirks[Name];
  quirksOf(dialect: string): MediaQuirks;
  quirksOf(dialect: string): MediaQuirks {
    return this.#quirks.get(dialect) ?? quirksOf(dialect, this.#declaration.quirks);
  }

  /** The origin of opaque values that the host reads. */
  originOf({ name, oneFamily }: Pick<UpstreamCodec, "name" | "oneFamily">, upstreamModel: string): string {
    const { origin } = this.#spoken(name);
    if (origin !== undefined) return typeof origin === "string" ? origin : origin(upstreamModel);
    return oneFamily ? name : this.#declaration.kind;
  }

  framingOf(dialect: string): Framing {
    return this.#spoken(dialect).framing ?? "sse";
  }

  /** The changes to a call's JSON before it is sent; undefined if there are none. */
  bodyPatch(call: UpstreamCall): BodyPatch | undefined {
    const { body } = this.#spoken(call.dialect);
    return body && { remove: body.remove ?? [], set: body.set?.(call) ?? {} };
  }

  get kind(): string {
    return this.#declaration.kind;
  }

  get signs(): boolean {
    return this.#sign !== undefined;
  }

  /** The headers that a finished request needs in addition to its endpoint's. */
  sign(request: OutgoingRequest): Record<string, string> {
    return this.#sign?.(request) ?? {};
  }

  countsTokens(dialect: string): boolean {
    return this.#nameable.includes(dialect) && this.#declaration.dialects[dialect]?.countTokens !== undefined;
  }

  /** The URL and headers of a call. Some providers fetch a token for it. */
  async endpoint(call: UpstreamCall): Promise<UpstreamEndpoint> {
    const spoken = this.#spoken(call.dialect);
    const path = (call.verb === "count_tokens" && spoken.countTokens) || spoken.generate;
    const url = this.#urlAt(spoken.baseUrl ?? this.#baseUrl, path(call, this.#settings));
    return { url, headers: this.#headers(call, spoken, await this.#authenticate()) };
  }

  /**
   * The protocol of live connections in which an offer is served: the one that it names, or the provider's own for a model that
   * hears and speaks. Undefined: none.
   */
  liveDialect(named: string | undefined, speaks: boolean): LiveDialectName | undefined {
    const { live = USUAL_LIVE_HOSTS } = this.#declaration;
    if (named === "realtime" || named === "live") return (live[named] ?? USUAL_LIVE_HOSTS[named]) ? named : undefined;
    if (named !== undefined || !speaks) return undefined;
    return LIVE_DIALECTS.find((dialect) => live[dialect] !== undefined && !live[dialect].byName);
  }

  /** The URL and headers of a live connection. Some providers fetch a token for it. */
  async liveEndpoint(dialect: LiveDialectName, upstreamModel: string): Promise<LiveEndpoint> {
    const { path, model } = this.#liveHost(dialect);
    const url = this.#baseUrl + path(upstreamModel, this.#settings);
    const headers = await this.#authenticate();
    return { url, headers, model: model?.(upstreamModel, this.#settings) ?? upstreamModel };
  }

  liveQuirks(dialect: LiveDialectName): LiveQuirks {
    return { ...DEFAULT_LIVE_QUIRKS, ...this.#liveHost(dialect).quirks };
  }

  #liveHost(dialect: LiveDialectName): LiveHost {
    const host = this.#declaration.live?.[dialect] ?? USUAL_LIVE_HOSTS[dialect];
    if (host === undefined) throw new Error(`provider ${this.name} does not speak ${dialect}`);
    return host;
  }

  /** Usually the URL of the previous call: reusing the string makes lookups fast. */
  #urlAt(base: string, path: string): string {
    const last = this.#lastUrl;
    if (last.path !== path || last.base !== base) this.#lastUrl = { base, path, url: base + path };
    return this.#lastUrl.url;
  }

  #spoken(dialect: string): SpokenDialect {
    const spoken = this.#declaration.dialects[dialect];
    if (!spoken) throw new Error(`provider ${this.name} does not speak ${dialect}`);
    return spoken;
  }

  /** The same for every call of a dialect, apart from a client's own options and a renewed credential: made once and kept. */
  #headers(call: UpstreamCall, spoken: SpokenDialect, credential: Record<string, string>): Record<string, string> {
    const kept = this.#kept.get(call.dialect);
    if (kept?.credential === credential && call.options === undefined) return kept.headers;
    const headers = {
      "content-type": "application/json",
      // The tap reads the bytes: a compressed answer would have to be decompressed here.
      "accept-encoding": "identity",
      ...spoken.headers?.(call),
      ...credential,
    };
    if (call.options === undefined) this.#kept.set(call.dialect, { credential, headers });
    return headers;
  }

  /**
   * A free request that shows whether the credential is accepted; undefined where the host has none. Rejects where the
   * credential must be exchanged for a token, and the exchange fails.
   */
  async probe(): Promise<Probe | undefined> {
    const credential = await this.#authenticate();
    const { probe } = this.#declaration;
    if (!probe) return undefined;
    const path = typeof probe.path === "string" ? probe.path : probe.path(this.#settings);
    const { rejections = [] } = probe;
    return { url: this.#baseUrl + path, headers: { ...probe.headers, ...credential }, rejections };
  }

  /** An error of this provider, asked for this model of its own, as a caller may read it, with its cause for the operator alone. */
  redactError(error: GatewayError, model?: string): GatewayError {
    const named = nameProvider(error, this.#failed, model).withTexts((text) => this.redact(text));
    const said = named.failure?.said;
    return said === undefined ? named : named.withFailure({ said: cut(this.withoutSecrets(said)) });
  }

  /**
   * A text of this provider as a caller may read it: without the gateway's own credentials (S10), without the host's internals
   * (S22), and no longer than is passed on. It is cut here and not before, since a credential that was cut in half could not
   * be found any more.
   */
  redact(text: string): string {
    return redactText(cut(this.withoutSecrets(text)));
  }

  /** Without the credentials of its configuration. */
  withoutSecrets(text: string): string {
    let result = text;
    for (const value of Object.values(this.#settings) as unknown[]) {
      const secret = isSecret(value) ? value.reveal() : "";
      if (secret.length >= 8 && result.includes(secret)) result = result.replaceAll(secret, "[secret]");
    }
    return result;
  }
}

const cut = (text: string): string => (text.length <= MAX_TEXT ? text : text.slice(0, MAX_TEXT).toWellFormed());

/** The field of a provider's configuration that an operator looks at first when the credential is refused. */
const CREDENTIALS: readonly [keyof ProviderSettings, string][] = [
  ["apiKey", "api_key"],
  ["credentials", "credentials"],
  ["secretAccessKey", "secret_access_key"],
  ["secretKey", "secret_key"],
];

function credentialField(settings: ProviderSettings): string {
  const [, field] = CREDENTIALS.find(([name]) => settings[name] !== undefined) ?? [];
  const of = settings.credential === undefined ? "" : `.credentials[${settings.credential.index}]`;
  return `providers.${settings.name}${of}${field === undefined ? "" : `.${field}`}`;
}

function isSecret(value: unknown): value is Secret {
  return typeof value === "object" && value !== null && "reveal" in value;
}
