import type { Secret } from "../base/secret.ts";
import type { AlertType } from "../canon/alert-type.ts";
import type { ToolPrice, UnpricedPolicy } from "../canon/billable.ts";
import type { LiveDialectName, ProtocolName, UpstreamDialectName } from "../canon/dialect-name.ts";
import type { GuardSettings } from "../canon/guard/guard-settings.ts";
import type { OfferTraits } from "../canon/offer-traits.ts";
import type { Sharing } from "../canon/ownership.ts";
import type { Role } from "../canon/role.ts";
import type { BreakerSettings, GatewayRouting, RoutingSettings } from "../canon/routing-settings.ts";
import type { AnswerCacheSettings } from "../canon/settings/answer-cache-settings.ts";
import type { ConfigProblem } from "./config-error.ts";
import type { DEFAULT_LIVE } from "./default-live.ts";
import type { ExportFormat } from "./export-format.ts";
import type { ModelFile } from "./schema/model-file.ts";

/** The content of `trivium.yaml` with defaults filled in, absolute paths and wrapped credentials. */
export interface Config {
  /** The file that was read; absent if there is none and only defaults apply. */
  file?: string;
  /** The same for display. */
  shownFile: string;
  /** The names of the root fields that have a value. */
  fields: readonly string[];
  /** The values of the file as they are written, without secrets; absent if there is no file. */
  written?: Readonly<Record<string, unknown>>;
  /** Where a file would be read from, when there is none. */
  awaitedFile?: string;
  /** Files that values were read from, such as mounted secrets. */
  valueFiles: readonly string[];
  /** Warnings: valid, but perhaps not intended. */
  warnings: readonly ConfigProblem[];
  server: {
    host: string;
    port: number;
    /** How many processes serve calls. */
    workers: number | "auto";
    publicUrl: string;
    /** Networks of proxies whose X-Forwarded-For is trusted. */
    trustedProxies: readonly string[];
    /** Origins whose pages may call from a browser. */
    cors: readonly string[];
    maxBodyBytes: number;
    /** The most keys in the JSON of a request, or of a frame of a live connection. */
    maxJsonKeys: number;
    /** Model lists answer requests without any credential. */
    publicModels: boolean;
    /** The memory limit for the bodies and answers of all calls together. */
    memoryBytes: number;
    /** How long new calls are still accepted after a stop signal. */
    drainDelaySeconds: number;
    drainSeconds: number;
  };
  admin: {
    host: string;
    port: number;
    /** How browsers reach it. With https, cookies are limited to https. */
    publicUrl: string;
    secret?: Secret;
    /** Whether `/metrics` needs no secret. */
    openMetrics: boolean;
    /** Where operators may log in instead of with a secret. */
    oidc?: OidcSettings;
  };
  /** Issuers whose tokens clients may send in place of a key. */
  auth: { jwt: readonly TokenIssuerSettings[] };
  dataDir: string;
  /** `sqlite:<absolute path>` or a PostgreSQL URL, which may contain a password. */
  storage: string;
  /** Where instances share limits: a URL, which may contain a password. */
  redis?: Secret;
  /** A folder, or `s3://bucket/prefix`. */
  files: string;
  /** How long finished operations and their files are kept, and how many bytes. */
  retention: { ms: number; maxFileBytes: number; maxTotalBytes: number; maxProjectBytes: number };
  /** The size of uploaded files, and how long one is kept that does not say; if absent, until it is deleted. */
  objects: { maxFileBytes: number; maxProjectBytes: number; retentionMs?: number };
  batch: {
    /** `auto`: a provider's batch API runs a batch if it can. */
    mode: "auto" | "own" | "native";
    /** How many lines of batches run at once, in all processes together. */
    maxConcurrent: number;
    /** What is reserved for the response of a line that sets no limit. */
    assumedOutputTokens: number;
  };
  /** Bounds of live connections. */
  live: typeof DEFAULT_LIVE;
  /** How much is kept on disk while the storage is unavailable; 0 disables it. */
  ledger: {
    journalBytes: number;
    /** Absent: receipts are kept forever. */
    retentionDays?: number;
    /** Each call is recorded before it is sent to a provider. */
    intents: boolean;
  };
  /** Whether answers are kept for requests that build on them, for how long, and how many bytes. */
  responses: {
    store: boolean;
    retentionMs: number;
    maxBytes: number;
    imageModel?: string;
    maxImageRounds: number;
    maxImages: number;
  };
  /** For keys with `capture`: how long bodies are kept, and how many bytes. */
  capture: { retentionMs: number; maxBodyBytes: number; maxMediaBytes: number; maxTotalBytes: number };
  simulator: boolean;
  /** How requests for something without a known price are handled. */
  billing: { unpriced?: UnpricedPolicy };
  routing: GatewayRouting;
  log: {
    level: "debug" | "info" | "warn" | "error" | "silent";
    format: "auto" | "text" | "json";
    /** Which calls get a line. */
    calls: "all" | "errors" | "off";
  };
  /** Where traces and metrics are sent. Absent fields come from the environment or have a default. */
  telemetry: TelemetryConfig;
  /** Alert destinations. */
  alerts: AlertSettings;
  /** Where receipts are copied to. */
  exports: readonly ExportSettings[];
  /** What looks at the texts of calls, in order. */
  guards: readonly GuardSettings[];
  /** Absent: the providers of the environment. Present: exactly these, even if there are none. */
  providers?: ProviderSettings[];
  models: ModelSettings[];
  /** Other names of models → their ids, which may be pinned. */
  aliases: Readonly<Record<string, string>>;
  keys: StaticKeySettings[];
  /** What all keys together may use. */
  limits: LimitSettings;
  /** The limits of parts of the calls of all keys. */
  partLimits?: PartLimitSettings;
}

interface OidcSettings {
  issuer: string;
  clientId: string;
  clientSecret: Secret;
  /** The claim with the groups of a person. */
  groupsClaim: string;
  scopes: readonly string[];
  /** The first that matches counts. */
  roles: readonly { group: string; role: Role; project?: string }[];
}

export interface TokenIssuerSettings {
  issuer: string;
  audience: string;
  /** The project of all tokens; absent: the claim names it. */
  project?: string;
  projectClaim?: string;
  /** The claim that names the end user. */
  userClaim?: string;
  /** Of each subject. */
  limits: LimitSettings;
  /** Globs over model ids. */
  models: readonly string[];
  /** Who can access what a subject stores; absent: the subject alone. */
  objects?: Sharing;
  /** Absent: all that sign with a key of which the issuer publishes one half. */
  algorithms?: readonly string[];
  /** The key of HMAC algorithms. */
  secret?: Secret;
  /** Absent: where the issuer's discovery document says. */
  jwksUrl?: string;
}

export interface AlertSettings {
  webhooks: readonly WebhookSettings[];
  /** Shares of a budget in ascending order; each raises one alert per period. */
  budgetPercent: readonly number[];
  providerDown: boolean;
  gatewayDegraded: boolean;
  /** When too many calls fail. */
  errors: {
    /** The share of calls; 0 disables the alert. */
    percent: number;
    /** The time window. */
    minutes: number;
    /** With fewer calls in that window, no alert is sent. */
    minCalls: number;
  };
  /** How long failed deliveries are retried. */
  retryHours: number;
}

export interface WebhookSettings {
  /** Unique; default: the host of its address. */
  name: string;
  /** Its path may contain a secret. */
  url: Secret;
  /** Signs deliveries; absent: they are not signed. */
  secret?: Secret;
  /** Absent: all. */
  events?: readonly AlertType[];
}

export interface ExportSettings {
  /** Unique: the progress of an export is stored under it. */
  name: string;
  /** An absolute folder, or `s3://bucket/prefix`. */
  to: string;
  format: ExportFormat;
  everyMs: number;
}

export interface TelemetryConfig {
  endpoint?: string;
  headers?: Readonly<Record<string, Secret>>;
  compression?: "none" | "gzip";
  timeoutMs?: number;
  traces?: boolean;
  metrics?: boolean;
  metricsIntervalSeconds?: number;
  /** The share of ordinary calls whose traces are kept. */
  sampleRatio?: number;
  slowSeconds?: number;
  serviceName?: string;
  resource?: Readonly<Record<string, string>>;
}

export interface ProviderSettings {
  name: string;
  kind: string;
  baseUrl?: string;
  apiKey?: Secret;
  dialects?: UpstreamDialectName[];
  timeoutMs?: { firstByte?: number; idle?: number; content?: number; total?: number };
  /** Concurrent calls at this provider. */
  maxConcurrent?: number;
  /** Whether the provider receives the trace context; absent: its kind decides. */
  traceContext?: boolean;
  /** Whether `baseUrl` is an address of the vendor, or of a proxy in front of it; absent: `isHome` decides. */
  home?: boolean;
  /** Whether its batch API is used; absent: at the vendor's own address. */
  batch?: boolean;
  /** What the operator states about its offers. */
  traits?: OfferTraits;
  /** Whether its files API is used; absent: at the vendor's own address. */
  files?: boolean;
  /** Overrides of the gateway's settings. */
  breaker?: Partial<BreakerSettings>;
  project?: string;
  location?: string;
  /** Path of a file with credentials. */
  credentials?: string;
  region?: string;
  accessKeyId?: string;
  secretAccessKey?: Secret;
  sessionToken?: Secret;
  apiVersion?: string;
  accessKey?: Secret;
  secretKey?: Secret;
  secretId?: string;
  organization?: string;
  /** Which credential this is, if the provider has a list of them: it then has one entry for each. */
  credential?: { index: number; label: string; weight: number };
}

type Modalities = NonNullable<ModelFile["input_modalities"]>;
type Pricings = NonNullable<ModelFile["pricings"]>;

export interface ModelSettings {
  id: string;
  displayName?: string;
  description?: string;
  /** YYYY-MM-DD */
  created?: string;
  contextLength?: number;
  maxOutputTokens?: number;
  inputModalities?: Modalities;
  outputModalities?: Modalities;
  reasoning?: boolean;
  /** 1 to 10 */
  quality?: number;
  pricings?: Pricings;
  priceMultiples?: Record<string, number>;
  /** What its providers charge for hosted tools, in place of the built-in prices. */
  tools?: ToolPrice[];
  /** Absent: the built-in offers. Present: exactly these. */
  offers?: OfferSettings[];
}

interface OfferSettings {
  provider: string;
  model: string;
  pricings?: Pricings;
  tools?: ToolPrice[];
  contextLength?: number;
  maxOutputTokens?: number;
  quality?: number;
  weight?: number;
  /** YYYY-MM-DD: the provider stops serving it on that day. */
  retiresOn?: string;
  dialect?: UpstreamDialectName | LiveDialectName;
  /** The dialect in which calls with tools are sent. */
  toolsDialect?: UpstreamDialectName;
  /** Whether it continues a partial response; absent: what its provider is known to do. */
  prefill?: boolean;
  /** What the operator states about it, in place of what is stated about its provider. */
  traits?: OfferTraits;
}

export interface StaticKeySettings {
  name: string;
  project: string;
  key: Secret;
  /** Globs over model ids. */
  models: string[];
  protocols?: ProtocolName[];
  /** A time in ISO 8601, in UTC. */
  expiresAt?: string;
  limits?: LimitSettings;
  partLimits?: PartLimitSettings;
  /** The networks from which it may be used. */
  networks?: string[];
  /** Permissions in addition to calling models. */
  scopes?: string[];
  /** Tags of its calls. */
  tags?: string[];
  /** Rejects requests that cannot be honoured exactly. */
  strict?: boolean;
  /** Captures the bodies of its calls. */
  capture?: boolean;
  /** Its requests may refer to objects in provider accounts. */
  providerObjects?: boolean;
  /** Who can access the objects it stores. */
  objects?: Sharing;
  /** Responses to its requests answer equal requests. */
  answerCache?: AnswerCacheSettings;
  /** How its requests for something without a known price are handled. */
  unpriced?: UnpricedPolicy;
  /** Default routing of its calls. */
  routing?: RoutingSettings;
}

interface LimitSettings {
  requestsPerMinute?: number;
  tokensPerMinute?: number;
  requestsPerDay?: number;
  tokensPerDay?: number;
  concurrent?: number;
  sessions?: number;
  budgetUsdPerDay?: number;
  budgetUsdPerWeek?: number;
  budgetUsdPerMonth?: number;
  budgetUsdPerQuarter?: number;
  budgetUsdTotal?: number;
}

/** Limits of end users, and of the models and tags that match a pattern. */
export interface PartLimitSettings {
  endUsers?: { limits: LimitSettings; required?: boolean };
  byModel?: Readonly<Record<string, LimitSettings>>;
  byTag?: Readonly<Record<string, LimitSettings>>;
}
