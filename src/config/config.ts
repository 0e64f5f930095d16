import type { Secret } from "../base/secret.ts";
import type { DialectName, UpstreamDialectName } from "../canon/dialect-name.ts";
import type { ConfigProblem } from "./config-error.ts";
import type { ModelFile } from "./schema.ts";

/** What `trivium.yaml` says, with its defaults filled in, paths made absolute and credentials wrapped. */
export interface Config {
  /** The file that was read; absent when there is none and the defaults alone hold. */
  file?: string;
  /** The same as people are told of it. */
  shownFile: string;
  /** The names of the fields at its root that say something. */
  fields: readonly string[];
  /** Where a file would be read from, when there is none. */
  awaitedFile?: string;
  /** What is no mistake, and may not be meant. */
  warnings: readonly ConfigProblem[];
  server: {
    host: string;
    port: number;
    publicUrl: string;
    /** Origins whose pages may call from a browser. */
    cors: readonly string[];
    maxBodyBytes: number;
    /** What the bodies and answers of all calls may take together. */
    memoryBytes: number;
    /** How long calls are still taken after the program was told to stop. */
    drainDelaySeconds: number;
    drainSeconds: number;
  };
  admin: { host: string; port: number; secret?: Secret };
  dataDir: string;
  /** `sqlite:<absolute path>` or a PostgreSQL address, which may hold a password. */
  storage: string;
  /** A folder, or `s3://bucket/prefix`. */
  files: string;
  /** How long operations that have ended, and what they made, are kept, and how much of it. */
  retention: { ms: number; maxFileBytes: number; maxTotalBytes: number; maxProjectBytes: number };
  simulator: boolean;
  log: {
    level: "debug" | "info" | "warn" | "error" | "silent";
    format: "auto" | "text" | "json";
    /** Which calls get a line. */
    calls: "all" | "errors" | "off";
  };
  /** Absent: those that the environment makes. Present: exactly these, be it none. */
  providers?: ProviderSettings[];
  models: ModelSettings[];
  /** Other names of models → their ids, which may be pinned. */
  aliases: Readonly<Record<string, string>>;
  keys: StaticKeySettings[];
}

export interface ProviderSettings {
  name: string;
  kind: string;
  baseUrl?: string;
  apiKey?: Secret;
  dialects?: UpstreamDialectName[];
  timeoutMs?: { firstByte?: number; idle?: number; content?: number; total?: number };
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
  pricings?: Pricings;
  priceMultiples?: Record<string, number>;
  /** Absent: the built-in offers. Present: exactly these. */
  offers?: OfferSettings[];
}

export interface OfferSettings {
  provider: string;
  model: string;
  pricings?: Pricings;
  contextLength?: number;
  maxOutputTokens?: number;
  dialect?: UpstreamDialectName;
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
  limits?: KeyLimits;
  /** Refuse what cannot be honoured to the letter. */
  strict?: boolean;
}

export interface KeyLimits {
  requestsPerMinute?: number;
  tokensPerMinute?: number;
  concurrent?: number;
  budgetUsdPerDay?: number;
  budgetUsdPerMonth?: number;
  budgetUsdTotal?: number;
}
