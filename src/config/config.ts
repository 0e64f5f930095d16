import type { Secret } from "../base/secret.ts";
import type { AlertType } from "../canon/alert-type.ts";
import type { ToolPrice, UnpricedPolicy } from "../canon/billable.ts";
import type { DialectName, UpstreamDialectName } from "../canon/dialect-name.ts";
import type { Sharing } from "../canon/ownership.ts";
import type { BreakerSettings, GatewayRouting, RoutingSettings } from "../canon/routing-settings.ts";
import type { ConfigProblem } from "./config-error.ts";
import type { ModelFile } from "./schema.ts";

/** What `trivium.yaml` says, with its defaults filled in, paths made absolute and credentials wrapped. */
export interface Config {
  /** The file that was read; absent if there is none and only defaults apply. */
  file?: string;
  /** The same for display. */
  shownFile: string;
  /** The names of the root fields that have a value. */
  fields: readonly string[];
  /** Where a file would be read from, when there is none. */
  awaitedFile?: string;
  /** The files whose content its values are, such as mounted secrets. */
  valueFiles: readonly string[];
  /** Warnings: valid, but perhaps not intended. */
  warnings: readonly ConfigProblem[];
  server: {
    host: string;
    port: number;
    publicUrl: string;
    /** Networks of proxies whose X-Forwarded-For is believed. */
    trustedProxies: readonly string[];
    /** Origins whose pages may call from a browser. */
    cors: readonly string[];
    maxBodyBytes: number;
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
    /** How browsers reach it: with https, cookies are for https alone. */
    publicUrl: string;
    secret?: Secret;
    /** Whether `/metrics` needs no secret. */
    openMetrics: boolean;
  };
  dataDir: string;
  /** `sqlite:<absolute path>` or a PostgreSQL URL, which may contain a password. */
  storage: string;
  /** Where instances share limits: a URL, which may contain a password. */
  redis?: Secret;
  /** A folder, or `s3://bucket/prefix`. */
  files: string;
  /** How long finished operations and their files are kept, and how many bytes. */
  retention: { ms: number; maxFileBytes: number; maxTotalBytes: number; maxProjectBytes: number };
  /** How much is kept on disk while the storage is away; 0 where nothing is. */
  ledger: {
    journalBytes: number;
    /** Absent: receipts are kept for good. */
    retentionDays?: number;
    /** Each call has a row before a provider is asked. */
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
  /** How long the bodies of calls are kept whose key says so, and how many bytes. */
  capture: { retentionMs: number; maxBodyBytes: number; maxMediaBytes: number; maxTotalBytes: number };
  simulator: boolean;
  /** What becomes of requests for what has no known price. */
  billing: { unpriced?: UnpricedPolicy };
  routing: GatewayRouting;
  log: {
    level: "debug" | "info" | "warn" | "error" | "silent";
    format: "auto" | "text" | "json";
    /** Which calls get a line. */
    calls: "all" | "errors" | "off";
  };
  /** Where traces and metrics are sent; what is absent is said by the environment, or has a default. */
  telemetry: TelemetryConfig;
  /** Who is told what happens. */
  alerts: AlertSettings;
  /** Absent: the providers of the environment. Present: exactly these, even if there are none. */
  providers?: ProviderSettings[];
  models: ModelSettings[];
  /** Other names of models → their ids, which may be pinned. */
  aliases: Readonly<Record<string, string>>;
  keys: StaticKeySettings[];
  /** What all keys together may use. */
  limits: LimitSettings;
}

export interface AlertSettings {
  webhooks: readonly WebhookSettings[];
  /** Shares of a budget, each told once a period; in order. */
  budgetPercent: readonly number[];
  providerDown: boolean;
  gatewayDegraded: boolean;
  /** When too many calls fail. */
  errors: {
    /** The share of calls; 0 tells of none. */
    percent: number;
    /** The time that is looked at. */
    minutes: number;
    /** With fewer calls in that time, nothing is told. */
    minCalls: number;
  };
  /** For how long an alert that a webhook does not take is sent again. */
  retryHours: number;
}

export interface WebhookSettings {
  /** Unique; the host of its address where the file names none. */
  name: string;
  /** What is in its path may be a secret. */
  url: Secret;
  /** Signs what is sent; without it nothing does. */
  secret?: Secret;
  /** Absent: all. */
  events?: readonly AlertType[];
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
  /** Calls there at once. */
  maxConcurrent?: number;
  /** Whether it is told of the trace of a call; its kind decides where this is absent. */
  traceContext?: boolean;
  /** What differs from the gateway's. */
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
  /** Which one this is, where the provider has a list of credentials: such a provider stands here once for each. */
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
  /** What its hosts charge for their own tools, in place of the built-in prices. */
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
  dialect?: UpstreamDialectName;
  /** The dialect in which calls with tools are sent. */
  toolsDialect?: UpstreamDialectName;
  /** Whether it goes on from a partial answer; absent: what its provider is known to do. */
  prefill?: boolean;
}

export interface StaticKeySettings {
  name: string;
  project: string;
  key: Secret;
  /** Globs over model ids. */
  models: string[];
  protocols?: DialectName[];
  /** A moment as ISO 8601 writes it, in UTC. */
  expiresAt?: string;
  limits?: LimitSettings;
  /** Where it may be used from. */
  networks?: string[];
  /** What it may do beside calling models. */
  scopes?: string[];
  /** What its calls are marked with. */
  tags?: string[];
  /** Refuse what cannot be honoured exactly. */
  strict?: boolean;
  /** The bodies of its calls are kept for a while. */
  capture?: boolean;
  /** Its requests may name objects in providers' accounts. */
  providerObjects?: boolean;
  /** Who may see what it stores. */
  objects?: Sharing;
  /** What becomes of its requests for what has no known price. */
  unpriced?: UnpricedPolicy;
  /** How its calls are served where they do not say otherwise. */
  routing?: RoutingSettings;
}

interface LimitSettings {
  requestsPerMinute?: number;
  tokensPerMinute?: number;
  concurrent?: number;
  budgetUsdPerDay?: number;
  budgetUsdPerMonth?: number;
  budgetUsdTotal?: number;
}
