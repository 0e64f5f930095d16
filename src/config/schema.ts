import type { Static } from "typebox";
import { Type } from "../base/type.ts";
import { ALERT_TYPES } from "../canon/alert-type.ts";
import { GUARD_DIRECTIONS } from "../canon/guard/guard-verdict.ts";
import { DURATION_PATTERN } from "./duration.ts";
import { EXPORT_FORMATS } from "./export-format.ts";
import { MAX_WORKERS } from "./max-workers.ts";
import { RoutingFile } from "./routing-schema.ts";
import { closed, HttpUrl, Text } from "./schema/fields.ts";
import { OidcFile, TokenIssuerFile } from "./schema/issuer-files.ts";
import { BillingFile, KeyFile, Network } from "./schema/key-file.ts";
import { EndUsersFile, LimitsFile, ModelPatternsFile, TagPatternsFile } from "./schema/limits-file.ts";
import { ModelFile } from "./schema/model-file.ts";

const Port = Type.Integer({ minimum: 0, maximum: 65535 });
const Workers = Type.Union([Type.Integer({ minimum: 1, maximum: MAX_WORKERS }), Type.Enum(["auto"])], {
  description: `auto, or a whole number from 1 to ${MAX_WORKERS}`,
});

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

/**
 * `trivium.yaml` but for `providers`, whose fields depend on their kind: see provider-fields.ts. `description` completes the
 * sentence "<field> must be …" if the keywords alone do not say what to write; `format` names a check in read-values.ts, which
 * supports every keyword used here.
 */
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
          max_json_keys: Type.Optional(Type.Integer({ minimum: 1_000, maximum: 1_000_000 })),
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
          frames_per_second: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
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

export type RootFile = Static<typeof RootFile>;
