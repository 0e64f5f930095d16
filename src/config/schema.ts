import type { Static } from "typebox";
import { MAX_BUDGET_USD, MAX_KEY_LENGTH, MIN_KEY_LENGTH } from "../base/key-bounds.ts";
import { Type } from "../base/type.ts";
import { ALERT_TYPES } from "../canon/alert-type.ts";
import { TOOL_UNITS, UNPRICED_POLICIES } from "../canon/billable.ts";
import { LIVE_DIALECT_NAMES, PROTOCOL_NAMES, UPSTREAM_DIALECT_NAMES } from "../canon/dialect-name.ts";
import { GUARD_DIRECTIONS } from "../canon/guard/guard-verdict.ts";
import { SHARING } from "../canon/ownership.ts";
import { ROLES } from "../canon/role.ts";
import { MAX_CACHE_MB, MAX_TTL_SECONDS } from "../canon/settings/answer-cache-settings.ts";
import { MAX_TAG_LENGTH, MAX_TAGS, TAG_PATTERN } from "../canon/tags.ts";
import { DURATION_PATTERN } from "./duration.ts";
import { EXPORT_FORMATS } from "./export-format.ts";
import { MAX_WORKERS } from "./max-workers.ts";
import { BreakerFile, KeyRoutingFile, MaxConcurrent, RoutingFile, TraitsFile } from "./routing-schema.ts";

/**
 * The schema of `trivium.yaml`. `description` completes the sentence "<field> must be …" if the keywords alone do not say what
 * to write; `format` names a check in read-values.ts, which supports every keyword used here.
 */
const closed = { additionalProperties: false };

const Text = Type.String({ minLength: 1 });
const Port = Type.Integer({ minimum: 0, maximum: 65535 });
const Workers = Type.Union([Type.Integer({ minimum: 1, maximum: MAX_WORKERS }), Type.Enum(["auto"])], {
  description: `auto, or a whole number from 1 to ${MAX_WORKERS}`,
});
const Tokens = Type.Integer({ minimum: 1 });
const Milliseconds = Type.Integer({ minimum: 1, maximum: 3_600_000 });
const Count = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const Budget = Type.Number({ minimum: 0, maximum: MAX_BUDGET_USD });
const Protocol = Type.Enum(PROTOCOL_NAMES);
const UpstreamDialect = Type.Enum(UPSTREAM_DIALECT_NAMES);
const OfferDialect = Type.Enum([...UPSTREAM_DIALECT_NAMES, ...LIVE_DIALECT_NAMES]);
const HttpUrl = Type.String({
  format: "http-url",
  description: "an http or https URL without query, fragment or credentials",
});

/** `writeOnly` marks a credential: an unset variable there is a mistake, not an absent field. */
const Credential = Type.String({
  pattern: "^[\\x21-\\x7e]+$",
  description: "visible ASCII characters without spaces",
  writeOnly: true,
});

/** If the file's content is given instead of its path, the message about the missing file must not show it (S10). */
const CredentialsFile = Type.String({
  pattern: "^(?!\\s*\\{).+$",
  description: "the path of a file",
  writeOnly: true,
});

const Bound = Type.Optional(Type.Union([Type.Number({ minimum: 0 }), Type.Null()]));
const TokenRange = Type.Optional(
  Type.Object({ unit: Type.Enum(["kTokens"]), gte: Bound, gt: Bound, lte: Bound, lt: Bound }, closed),
);
const Price = Type.Optional(
  Type.Array(
    Type.Object(
      {
        value: Type.Number({ minimum: 0 }),
        unit: Type.Enum(["perMTokens", "perCount", "perSecond", "perMCharacters", "perMTokenHours"]),
        currency: Type.Enum(["USD"]),
        resolution: Type.Optional(
          Type.String({ pattern: "^[1-9]\\d*[pPkK]$", description: "a resolution such as 720p, 1080p, 2K or 4K" }),
        ),
        conditions: Type.Optional(Type.Object({ prompt_tokens: TokenRange, completion_tokens: TokenRange }, closed)),
      },
      closed,
    ),
  ),
);
const Pricings = Type.Object(
  {
    prompt: Price,
    completion: Price,
    input_cache_read: Price,
    input_cache_write_5_min: Price,
    input_cache_write_1_h: Price,
    input_cache_write: Price,
    web_search: Price,
    internal_reasoning: Price,
    video: Price,
    image: Price,
    audio: Price,
    audio_and_video: Price,
    image_input: Price,
    audio_output: Price,
    characters: Price,
    search_unit: Price,
    cache_storage: Price,
    audio_cache_read: Price,
    image_cache_read: Price,
  },
  closed,
);

/** What a provider charges for hosted tools. */
const ToolPrices = Type.Array(
  Type.Object(
    {
      name: Text,
      unit: Type.Enum(TOOL_UNITS),
      usd: Type.Number({ minimum: 0, maximum: 1_000_000 }),
      source: Type.Optional(Text),
      date: Type.Optional(Type.String({ format: "day", description: "a date in the form YYYY-MM-DD" })),
    },
    closed,
  ),
);

const BillingFile = Type.Object({ unpriced: Type.Optional(Type.Enum(UNPRICED_POLICIES)) }, closed);

/** Responses of a key that answer equal requests. */
const AnswerCacheFile = Type.Object(
  {
    ttl_seconds: Type.Integer({ minimum: 1, maximum: MAX_TTL_SECONDS }),
    max_mb: Type.Integer({ minimum: 1, maximum: MAX_CACHE_MB }),
  },
  closed,
);

const Modalities = Type.Array(
  Type.Enum(["text", "image", "video", "audio", "file", "embeddings", "rerank", "transcription", "moderation"]),
  {
    minItems: 1,
  },
);
const Quality = Type.Integer({ minimum: 1, maximum: 10 });

const OfferFile = Type.Object(
  {
    provider: Text,
    model: Text,
    pricings: Type.Optional(Pricings),
    tools: Type.Optional(ToolPrices),
    context_length: Type.Optional(Tokens),
    max_output_tokens: Type.Optional(Tokens),
    quality: Type.Optional(Quality),
    weight: Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000 })),
    prefill: Type.Optional(Type.Boolean()),
    dialect: Type.Optional(OfferDialect),
    tools_dialect: Type.Optional(UpstreamDialect),
    traits: Type.Optional(TraitsFile),
  },
  closed,
);

export const ModelFile = Type.Object(
  {
    id: Type.String({ pattern: "^[^/\\s]+/[^/\\s]+$", description: "<provider>/<model_name> with exactly one slash" }),
    display_name: Type.Optional(Text),
    description: Type.Optional(Text),
    created: Type.Optional(Type.String({ format: "day", description: "a date in the form YYYY-MM-DD" })),
    context_length: Type.Optional(Tokens),
    max_output_tokens: Type.Optional(Tokens),
    input_modalities: Type.Optional(Modalities),
    output_modalities: Type.Optional(Modalities),
    reasoning: Type.Optional(Type.Boolean()),
    quality: Type.Optional(Quality),
    pricings: Type.Optional(Pricings),
    price_multiples: Type.Optional(Type.Record(Type.String(), Type.Number({ exclusiveMinimum: 0 }))),
    tools: Type.Optional(ToolPrices),
    offers: Type.Optional(Type.Array(OfferFile)),
  },
  closed,
);

const Network = Type.String({
  format: "network",
  description: "an IP address or a network such as 10.0.0.0/8 or 2001:db8::/32",
});

const PART_LIMIT_FIELDS = {
  requests_per_minute: Type.Optional(Count),
  tokens_per_minute: Type.Optional(Count),
  requests_per_day: Type.Optional(Count),
  tokens_per_day: Type.Optional(Count),
  concurrent: Type.Optional(Count),
  budget_usd_per_day: Type.Optional(Budget),
  budget_usd_per_week: Type.Optional(Budget),
  budget_usd_per_month: Type.Optional(Budget),
  budget_usd_per_quarter: Type.Optional(Budget),
  budget_usd_total: Type.Optional(Budget),
};

/** What a key, or all keys together, may use. */
const LimitsFile = Type.Object({ ...PART_LIMIT_FIELDS, sessions: Type.Optional(Count) }, closed);

/** What a part of the calls may use. */
const PartLimitsFile = Type.Object(PART_LIMIT_FIELDS, closed);
const EndUsersFile = Type.Object(
  { limits: Type.Optional(PartLimitsFile), required: Type.Optional(Type.Boolean()) },
  closed,
);
const ModelPatternsFile = Type.Record(Type.String({ pattern: "^[\\x21-\\x7e]{1,200}$" }), PartLimitsFile);
const TagPatternsFile = Type.Record(Type.String({ pattern: "^[A-Za-z0-9_.:=/*-]{1,64}$" }), PartLimitsFile);

const Tag = Type.String({
  pattern: TAG_PATTERN,
  description: `1 to ${MAX_TAG_LENGTH} letters, digits and _ . : = / -, such as team-a`,
});

const KeyFile = Type.Object(
  {
    name: Text,
    project: Type.Optional(Text),
    key: Type.String({
      pattern: `^[\\x21-\\x7e]{${MIN_KEY_LENGTH},${MAX_KEY_LENGTH}}$`,
      description: `${MIN_KEY_LENGTH} to ${MAX_KEY_LENGTH} visible ASCII characters without spaces, such as the output of "openssl rand -hex 24"`,
    }),
    models: Type.Optional(Type.Array(Text)),
    protocols: Type.Optional(Type.Array(Protocol, { minItems: 1 })),
    expires_at: Type.Optional(
      Type.String({
        format: "moment",
        description: "a date (YYYY-MM-DD) or a time with its zone (2027-01-31T12:00:00Z)",
      }),
    ),
    limits: Type.Optional(LimitsFile),
    end_users: Type.Optional(EndUsersFile),
    limits_by_model: Type.Optional(ModelPatternsFile),
    limits_by_tag: Type.Optional(TagPatternsFile),
    networks: Type.Optional(Type.Array(Network, { minItems: 1 })),
    scopes: Type.Optional(Type.Array(Type.Enum(["keys:create"]))),
    tags: Type.Optional(Type.Array(Tag, { minItems: 1, maxItems: MAX_TAGS })),
    strict: Type.Optional(Type.Boolean()),
    capture: Type.Optional(Type.Boolean()),
    provider_objects: Type.Optional(Type.Boolean()),
    objects: Type.Optional(Type.Enum([...SHARING])),
    billing: Type.Optional(BillingFile),
    cache: Type.Optional(AnswerCacheFile),
    routing: Type.Optional(KeyRoutingFile),
  },
  closed,
);

/** Checked further by check-config.ts: https, or http on loopback. */
const IssuerUrl = Type.String({
  format: "http-url",
  description: "the issuer's URL as it is in its tokens: https, or http on loopback",
});

/** A claim of a token; one that begins with a slash is a JSON pointer. */
const Claim = Type.String({
  minLength: 1,
  maxLength: 200,
  description: "the name of a claim, or a JSON pointer to one such as /realm_access/roles",
});

/** An issuer at which operators log in. */
const OidcFile = Type.Object(
  {
    issuer: IssuerUrl,
    client_id: Text,
    client_secret: Credential,
    groups_claim: Type.Optional(Claim),
    scopes: Type.Optional(
      Type.Array(
        Type.String({ pattern: "^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$", description: "a scope without spaces and quotes" }),
        { minItems: 1 },
      ),
    ),
    roles: Type.Array(Type.Object({ group: Text, role: Type.Enum([...ROLES]), project: Type.Optional(Text) }, closed), {
      minItems: 1,
    }),
  },
  closed,
);

const SIGNATURES = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];

/** An issuer whose tokens clients send in place of a key. */
const TokenIssuerFile = Type.Object(
  {
    issuer: IssuerUrl,
    audience: Text,
    project: Type.Optional(Text),
    project_claim: Type.Optional(Claim),
    user_claim: Type.Optional(Claim),
    limits: Type.Optional(LimitsFile),
    models: Type.Optional(Type.Array(Text)),
    objects: Type.Optional(Type.Enum([...SHARING])),
    algorithms: Type.Optional(Type.Array(Type.Enum([...SIGNATURES, "HS256", "HS384", "HS512"]), { minItems: 1 })),
    secret: Type.Optional(
      Type.String({
        pattern: "^[\\x21-\\x7e]{32,1024}$",
        description: '32 to 1024 visible ASCII characters without spaces, such as the output of "openssl rand -hex 32"',
        writeOnly: true,
      }),
    ),
    jwks_url: Type.Optional(HttpUrl),
  },
  closed,
);

/** Where traces and metrics are sent. */
const TelemetryFile = Type.Object(
  {
    endpoint: Type.Optional(HttpUrl),
    headers: Type.Optional(
      Type.Record(
        Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9-]{0,63}$" }),
        Type.String({
          pattern: "^[\\x20-\\x7e]+$",
          description: "visible ASCII characters",
          writeOnly: true,
        }),
      ),
    ),
    compression: Type.Optional(Type.Enum(["none", "gzip"])),
    timeout_ms: Type.Optional(Type.Integer({ minimum: 100, maximum: 60_000 })),
    traces: Type.Optional(Type.Boolean()),
    metrics: Type.Optional(Type.Boolean()),
    metrics_interval_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 3600 })),
    sample_ratio: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    slow_seconds: Type.Optional(Type.Number({ minimum: 0, maximum: 3600 })),
    service_name: Type.Optional(Text),
    resource: Type.Optional(Type.Record(Type.String({ pattern: "^[A-Za-z][A-Za-z0-9._-]{0,127}$" }), Text)),
  },
  closed,
);

/** An address may itself be a secret, as with chat services. */
const WebhookFile = Type.Object(
  {
    name: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$",
        description: "up to 64 letters, digits, dots, colons, dashes and underscores",
      }),
    ),
    url: Type.String({
      format: "webhook-url",
      description: "an http or https URL without fragment or credentials",
      writeOnly: true,
    }),
    secret: Type.Optional(
      Type.String({
        pattern: "^[\\x21-\\x7e]{16,512}$",
        description: '16 to 512 visible ASCII characters without spaces, such as the output of "openssl rand -hex 24"',
        writeOnly: true,
      }),
    ),
    events: Type.Optional(Type.Array(Type.Enum(ALERT_TYPES), { minItems: 1 })),
  },
  closed,
);

/** Alert destinations. */
const AlertsFile = Type.Object(
  {
    webhooks: Type.Optional(Type.Array(WebhookFile)),
    budget_percent: Type.Optional(Type.Array(Type.Integer({ minimum: 1, maximum: 1000 }))),
    provider_down: Type.Optional(Type.Boolean()),
    gateway_degraded: Type.Optional(Type.Boolean()),
    error_percent: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
    error_minutes: Type.Optional(Type.Integer({ minimum: 1, maximum: 60 })),
    error_min_calls: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
    retry_hours: Type.Optional(Type.Number({ minimum: 0, maximum: 168 })),
  },
  closed,
);

const Patterns = Type.Optional(Type.Array(Text, { minItems: 1 }));

/** A guard on the texts of calls. */
const GuardFile = Type.Object(
  {
    name: Type.String({
      pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$",
      description: "up to 64 letters, digits, dots, dashes and underscores",
    }),
    on: Type.Optional(Type.Array(Type.Enum(GUARD_DIRECTIONS), { minItems: 1 })),
    use: Type.Enum(["secrets", "pii", "words", "moderation", "webhook"]),
    action: Type.Enum(["block", "redact", "observe"]),
    on_failure: Type.Optional(Type.Enum(["block", "allow"])),
    timeout_ms: Type.Optional(Type.Integer({ minimum: 10, maximum: 60_000 })),
    window: Type.Optional(Type.Integer({ minimum: 64, maximum: 4096 })),
    for: Type.Optional(Type.Object({ projects: Patterns, keys: Patterns, models: Patterns }, closed)),
    words: Type.Optional(Type.Array(Text, { minItems: 1 })),
    model: Type.Optional(Text),
    url: Type.Optional(WebhookFile.properties.url),
    secret: WebhookFile.properties.secret,
  },
  closed,
);

/** Where settled receipts are copied to. */
const ExportFile = Type.Object(
  {
    name: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$",
        description: "up to 64 letters, digits, dots, dashes and underscores",
      }),
    ),
    to: Type.String({
      pattern: "^(s3://[^/?#@]+(/[^?#]*)?|file:[^/].*|file:/[^/].*|file:///[^/].*)$",
      description: "file:<folder> or s3://bucket/prefix",
    }),
    format: Type.Enum(EXPORT_FORMATS),
    every: Type.String({ pattern: DURATION_PATTERN, description: "a duration such as 30s, 10m, 6h or 1d" }),
  },
  closed,
);

/** The whole file but for `providers`, whose fields depend on their kind: see provider-fields.ts. */
export const RootFile = Type.Object(
  {
    server: Type.Optional(
      Type.Object(
        {
          host: Type.Optional(Text),
          port: Type.Optional(Port),
          workers: Type.Optional(Workers),
          public_url: Type.Optional(HttpUrl),
          cors: Type.Optional(
            Type.Array(
              Type.String({
                pattern: "^(\\*|https?://[^\\s/,*]+)$",
                description: "an origin such as https://app.example, without a path, or * for any",
              }),
            ),
          ),
          trusted_proxies: Type.Optional(Type.Array(Network)),
          public_models: Type.Optional(Type.Boolean()),
          max_body_mb: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 4096 })),
          memory_mb: Type.Optional(Type.Number({ minimum: 16, maximum: 1_048_576 })),
          drain_delay_seconds: Type.Optional(Type.Number({ minimum: 0, maximum: 600 })),
          drain_seconds: Type.Optional(Type.Number({ minimum: 0, maximum: 3600 })),
        },
        closed,
      ),
    ),
    admin: Type.Optional(
      Type.Object(
        {
          host: Type.Optional(Text),
          port: Type.Optional(Port),
          public_url: Type.Optional(HttpUrl),
          secret: Type.Optional(Type.String({ writeOnly: true })),
          open_metrics: Type.Optional(Type.Boolean()),
          oidc: Type.Optional(OidcFile),
        },
        closed,
      ),
    ),
    auth: Type.Optional(Type.Object({ jwt: Type.Optional(Type.Array(TokenIssuerFile)) }, closed)),
    data_dir: Type.Optional(Text),
    storage: Type.Optional(
      Type.String({
        pattern: "^(sqlite:.|postgres(ql)?://.)",
        description: "sqlite:<path> or postgres://user:password@host/database",
      }),
    ),
    redis: Type.Optional(
      Type.String({
        pattern: "^(redis|rediss|valkey|valkeys)://[^/]",
        description: "redis://user:password@host:port/database, or rediss:// for TLS",
        writeOnly: true,
      }),
    ),
    files: Type.Optional(
      Type.String({ pattern: "^(s3://[^/]|(?!\\w+://).)", description: "a folder or s3://bucket/prefix" }),
    ),
    retention: Type.Optional(
      Type.Object(
        {
          hours: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 8760 })),
          max_file_mb: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
          max_total_mb: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
          max_project_mb: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
        },
        closed,
      ),
    ),
    objects: Type.Optional(
      Type.Object(
        {
          max_file_mb: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
          project_mb: Type.Optional(Type.Number({ minimum: 0 })),
          default_days: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 36_500 })),
        },
        closed,
      ),
    ),
    batch: Type.Optional(
      Type.Object(
        {
          mode: Type.Optional(Type.Enum(["auto", "own", "native"])),
          max_concurrent: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 })),
          assumed_output_tokens: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000_000 })),
        },
        closed,
      ),
    ),
    live: Type.Optional(
      Type.Object(
        {
          sessions_per_key: Type.Optional(Type.Integer({ minimum: 0, maximum: 100_000 })),
          idle_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400 })),
          session_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400 })),
          max_frame_mb: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1024 })),
          bytes_per_second: Type.Optional(Type.Integer({ minimum: 1024, maximum: 1_073_741_824 })),
          in_flight_mb: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 4096 })),
        },
        closed,
      ),
    ),
    ledger: Type.Optional(
      Type.Object(
        {
          journal_mb: Type.Optional(Type.Number({ minimum: 0, maximum: 1_048_576 })),
          retention_days: Type.Optional(Type.Integer({ minimum: 1, maximum: 36_500 })),
          intents: Type.Optional(Type.Boolean()),
        },
        closed,
      ),
    ),
    responses: Type.Optional(
      Type.Object(
        {
          store: Type.Optional(Type.Boolean()),
          retention_hours: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 8760 })),
          max_mb: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
          image_model: Type.Optional(Text),
          max_image_rounds: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
          max_images: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
        },
        closed,
      ),
    ),
    capture: Type.Optional(
      Type.Object(
        {
          retention_hours: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 8760 })),
          max_body_kb: Type.Optional(Type.Integer({ minimum: 1, maximum: 8192 })),
          max_media_kb: Type.Optional(Type.Integer({ minimum: 0, maximum: 4096 })),
          max_total_mb: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1_048_576 })),
        },
        closed,
      ),
    ),
    simulator: Type.Optional(Type.Boolean()),
    log: Type.Optional(
      Type.Object(
        {
          level: Type.Optional(Type.Enum(["debug", "info", "warn", "error", "silent"])),
          format: Type.Optional(Type.Enum(["auto", "text", "json"])),
          calls: Type.Optional(Type.Enum(["all", "errors", "off"])),
        },
        closed,
      ),
    ),
    telemetry: Type.Optional(TelemetryFile),
    alerts: Type.Optional(AlertsFile),
    guards: Type.Optional(Type.Array(GuardFile)),
    exports: Type.Optional(Type.Array(ExportFile)),
    routing: Type.Optional(RoutingFile),
    models: Type.Optional(Type.Array(ModelFile)),
    aliases: Type.Optional(Type.Record(Type.String({ pattern: "^[^\\s\\x00-\\x1f]{1,128}$" }), Text)),
    keys: Type.Optional(Type.Array(KeyFile)),
    limits: Type.Optional(LimitsFile),
    end_users: Type.Optional(EndUsersFile),
    limits_by_model: Type.Optional(ModelPatternsFile),
    limits_by_tag: Type.Optional(TagPatternsFile),
    billing: Type.Optional(BillingFile),
  },
  closed,
);

/** Every field that some kind of provider takes. */
export const ProviderFile = Type.Object(
  {
    kind: Text,
    base_url: Type.Optional(HttpUrl),
    timeout_ms: Type.Optional(
      Type.Object(
        {
          first_byte: Type.Optional(Milliseconds),
          idle: Type.Optional(Milliseconds),
          content: Type.Optional(Milliseconds),
          total: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400_000 })),
        },
        closed,
      ),
    ),
    max_concurrent: Type.Optional(MaxConcurrent),
    breaker: Type.Optional(BreakerFile),
    trace_context: Type.Optional(Type.Boolean()),
    batch: Type.Optional(Type.Boolean()),
    traits: Type.Optional(TraitsFile),
    files: Type.Optional(Type.Boolean()),
    api_key: Type.Optional(Credential),
    dialects: Type.Optional(Type.Array(UpstreamDialect, { minItems: 1 })),
    project: Type.Optional(Text),
    location: Type.Optional(Text),
    credentials: Type.Optional(CredentialsFile),
    region: Type.Optional(Text),
    access_key_id: Type.Optional(Credential),
    secret_access_key: Type.Optional(Credential),
    session_token: Type.Optional(Credential),
    api_version: Type.Optional(Text),
    access_key: Type.Optional(Credential),
    secret_key: Type.Optional(Credential),
    secret_id: Type.Optional(Credential),
    organization: Type.Optional(Text),
  },
  closed,
);

/** What an entry of a provider's list of credentials has beyond the fields of its kind. */
export const CredentialFile = Type.Object(
  {
    label: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$",
        description:
          "up to 32 letters, digits, dots, dashes and underscores(it appears in receipts, so it must not be the key)",
      }),
    ),
    weight: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000 })),
  },
  closed,
);

export type ModelFile = Static<typeof ModelFile>;
export type OidcFile = Static<typeof OidcFile>;
export type TokenIssuerFile = Static<typeof TokenIssuerFile>;
export type KeyFile = Static<typeof KeyFile>;
export type RootFile = Static<typeof RootFile>;
type PlainProviderFile = Static<typeof ProviderFile>;
export type CredentialFile = Static<typeof CredentialFile> & Partial<PlainProviderFile>;
/** `credentials` is a file, or a list. */
export type ProviderFile = Omit<PlainProviderFile, "credentials"> & { credentials?: string | CredentialFile[] };
