import { resolve } from "node:path";
import { Secret } from "../base/secret.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import type { Requirements } from "../canon/offer-traits.ts";
import { NO_PREFERENCE, type Preference, readFallback } from "../canon/preference.ts";
import { DEFAULT_GATEWAY_ROUTING, type GatewayRouting, type RoutingSettings } from "../canon/routing-settings.ts";
import { camelKeys } from "./camel-keys.ts";
import type {
  Config,
  ModelSettings,
  PartLimitSettings,
  ProviderSettings,
  StaticKeySettings,
  TokenIssuerSettings,
} from "./config.ts";
import { DEFAULT_LIVE } from "./default-live.ts";
import type { KeyRoutingFile, RoutingFile } from "./routing-schema.ts";
import type { OidcFile, TokenIssuerFile } from "./schema/issuer-files.ts";
import type { KeyFile } from "./schema/key-file.ts";
import type { ModelFile } from "./schema/model-file.ts";
import type { ProviderFile } from "./schema/provider-file.ts";
import type { RootFile } from "./schema.ts";
import { toAlerts } from "./to-alerts.ts";
import { toExports } from "./to-exports.ts";
import { toGuards } from "./to-guards.ts";

const BYTES_PER_KILOBYTE = 1024;
const BYTES_PER_MEGABYTE = 1024 * 1024;
const DEFAULT_MEMORY_BYTES = 512 * BYTES_PER_MEGABYTE;
const MS_PER_HOUR = 3_600_000;

/** The checked file with defaults filled in. `folder` is what relative paths start from. */
export function toConfig(
  file: RootFile,
  providers: ReadonlyMap<string, ProviderFile> | undefined,
  folder: string,
): Omit<Config, "warnings" | "shownFile" | "valueFiles" | "fields"> {
  const { server = {}, admin = {} } = file;
  const host = server.host ?? "127.0.0.1";
  const port = server.port ?? 8787;
  const adminHost = admin.host ?? "127.0.0.1";
  const adminPort = admin.port ?? 8788;
  const dataDir = resolve(folder, file.data_dir ?? "./data");
  const totalMegabytes = file.retention?.max_total_mb ?? 10_240;
  const maxBodyBytes = Math.round((server.max_body_mb ?? 64) * BYTES_PER_MEGABYTE);
  return {
    server: {
      host,
      port,
      workers: server.workers ?? "auto",
      publicUrl: withoutSlash(server.public_url ?? urlOf(host, port)),
      cors: server.cors ?? [],
      trustedProxies: server.trusted_proxies ?? [],
      maxBodyBytes,
      maxJsonKeys: server.max_json_keys ?? 250_000,
      publicModels: server.public_models ?? true,
      // One key may hold half of it, and the largest body must fit next to others.
      memoryBytes:
        server.memory_mb === undefined
          ? Math.max(DEFAULT_MEMORY_BYTES, 4 * maxBodyBytes)
          : Math.round(server.memory_mb * BYTES_PER_MEGABYTE),
      drainDelaySeconds: server.drain_delay_seconds ?? 0,
      drainSeconds: server.drain_seconds ?? 30,
    },
    admin: {
      host: adminHost,
      port: adminPort,
      publicUrl: withoutSlash(admin.public_url ?? urlOf(adminHost, adminPort)),
      openMetrics: admin.open_metrics ?? false,
      ...(admin.secret ? { secret: new Secret(admin.secret) } : {}),
      ...(admin.oidc && { oidc: toOidc(admin.oidc) }),
    },
    auth: { jwt: (file.auth?.jwt ?? []).map(toTokenIssuer) },
    dataDir,
    storage: file.storage === undefined ? `sqlite:${resolve(dataDir, "trivium.db")}` : toStorage(file.storage, folder),
    ...withoutAbsent({ redis: secretOf(file.redis) }),
    files: toFiles(file.files, dataDir, folder),
    retention: {
      ms: Math.round((file.retention?.hours ?? 48) * MS_PER_HOUR),
      maxFileBytes: Math.round((file.retention?.max_file_mb ?? 1024) * BYTES_PER_MEGABYTE),
      maxTotalBytes: Math.round(totalMegabytes * BYTES_PER_MEGABYTE),
      // One project must leave space for the others.
      maxProjectBytes: Math.round((file.retention?.max_project_mb ?? totalMegabytes / 2) * BYTES_PER_MEGABYTE),
    },
    objects: withoutAbsent({
      maxFileBytes: Math.round((file.objects?.max_file_mb ?? 512) * BYTES_PER_MEGABYTE),
      maxProjectBytes: Math.round((file.objects?.project_mb ?? 10_240) * BYTES_PER_MEGABYTE),
      retentionMs: file.objects?.default_days === undefined ? undefined : file.objects.default_days * 24 * MS_PER_HOUR,
    }),
    batch: {
      mode: file.batch?.mode ?? "auto",
      maxConcurrent: file.batch?.max_concurrent ?? 8,
      assumedOutputTokens: file.batch?.assumed_output_tokens ?? 4096,
    },
    live: toLive(file.live),
    ledger: {
      journalBytes: Math.round((file.ledger?.journal_mb ?? 256) * BYTES_PER_MEGABYTE),
      intents: file.ledger?.intents ?? false,
      ...withoutAbsent({ retentionDays: file.ledger?.retention_days }),
    },
    responses: {
      store: file.responses?.store ?? true,
      retentionMs: Math.round((file.responses?.retention_hours ?? 168) * MS_PER_HOUR),
      maxBytes: Math.round((file.responses?.max_mb ?? 1024) * BYTES_PER_MEGABYTE),
      ...withoutAbsent({ imageModel: file.responses?.image_model }),
      maxImageRounds: file.responses?.max_image_rounds ?? 8,
      maxImages: file.responses?.max_images ?? 16,
    },
    capture: {
      retentionMs: Math.round((file.capture?.retention_hours ?? 72) * MS_PER_HOUR),
      maxBodyBytes: (file.capture?.max_body_kb ?? 256) * BYTES_PER_KILOBYTE,
      maxMediaBytes: (file.capture?.max_media_kb ?? 0) * BYTES_PER_KILOBYTE,
      maxTotalBytes: Math.round((file.capture?.max_total_mb ?? 1024) * BYTES_PER_MEGABYTE),
    },
    simulator: file.simulator ?? true,
    routing: toRouting(file.routing),
    log: {
      level: file.log?.level ?? "info",
      format: file.log?.format ?? "auto",
      calls: file.log?.calls ?? "all",
    },
    telemetry: toTelemetry(file.telemetry),
    alerts: toAlerts(file.alerts),
    exports: toExports(file.exports, folder),
    guards: toGuards(file.guards),
    ...(providers && { providers: [...providers].flatMap(([name, provider]) => toProviders(name, provider, folder)) }),
    models: (file.models ?? []).map(toModel),
    aliases: file.aliases ?? {},
    keys: (file.keys ?? []).map(toKey),
    limits: camelKeys(file.limits ?? {}),
    ...withoutAbsent({ partLimits: toPartLimits(file) }),
    billing: file.billing ?? {},
  };
}

function toOidc({
  client_secret,
  groups_claim = "groups",
  scopes,
  ...same
}: OidcFile): NonNullable<Config["admin"]["oidc"]> {
  const { clientId, ...rest } = camelKeys(same);
  return {
    ...rest,
    clientId,
    clientSecret: new Secret(client_secret),
    groupsClaim: groups_claim,
    // Without the first an issuer returns no identity.
    scopes: [...new Set(["openid", ...(scopes ?? ["profile", "email"])])],
  };
}

function toTokenIssuer({ limits, secret, models = ["*"], ...same }: TokenIssuerFile): TokenIssuerSettings {
  return {
    ...camelKeys(same),
    models,
    limits: camelKeys(limits ?? {}),
    ...withoutAbsent({ secret: secretOf(secret) }),
  };
}

function toLive(live: RootFile["live"] = {}): Config["live"] {
  const { sessions_per_key, idle_seconds, session_seconds, max_frame_mb, in_flight_mb } = live;
  const times = (value: number | undefined, unit: number) =>
    value === undefined ? undefined : Math.round(value * unit);
  return {
    ...DEFAULT_LIVE,
    ...withoutAbsent({
      sessionsPerKey: sessions_per_key,
      idleMs: times(idle_seconds, 1000),
      sessionMs: times(session_seconds, 1000),
      maxFrameBytes: times(max_frame_mb, BYTES_PER_MEGABYTE),
      bytesPerSecond: live.bytes_per_second,
      framesPerSecond: live.frames_per_second,
      inFlightBytes: times(in_flight_mb, BYTES_PER_MEGABYTE),
    }),
  };
}

function toStorage(storage: string, folder: string): string {
  const path = storage.startsWith("sqlite:") ? storage.slice("sqlite:".length) : undefined;
  return path === undefined || path === ":memory:" ? storage : `sqlite:${resolve(folder, path)}`;
}

function toFiles(files: string | undefined, dataDir: string, folder: string): string {
  if (files === undefined) return resolve(dataDir, "files");
  return files.startsWith("s3://") ? files : resolve(folder, files);
}

/** The same provider with each of its credentials; most have one. */
export function toProviders(name: string, fields: ProviderFile, folder: string): ProviderSettings[] {
  const { credentials } = fields;
  if (!Array.isArray(credentials)) return [toProvider(name, { ...fields, credentials }, folder)];
  const alone = credentials.length === 1;
  return credentials.map(({ label, weight = 1, ...own }, index) => {
    const settings = toProvider(name, { ...fields, credentials: undefined, ...own }, folder);
    return { ...settings, credential: { index, label: label ?? (alone ? "" : String(index + 1)), weight } };
  });
}

/** One provider's fields under the names that the program uses. */
function toProvider(
  name: string,
  fields: Omit<ProviderFile, "credentials"> & { credentials?: string | undefined },
  folder: string,
): ProviderSettings {
  const {
    base_url,
    credentials,
    timeout_ms,
    breaker,
    api_key,
    secret_access_key,
    session_token,
    access_key,
    secret_key,
    ...same
  } = fields;
  return {
    name,
    ...camelKeys(same),
    ...withoutAbsent({
      baseUrl: base_url === undefined ? undefined : withoutSlash(base_url),
      credentials: credentials === undefined ? undefined : resolve(folder, credentials),
      timeoutMs: timeout_ms && camelKeys(timeout_ms),
      breaker: breaker && camelKeys(breaker),
      apiKey: secretOf(api_key),
      secretAccessKey: secretOf(secret_access_key),
      sessionToken: secretOf(session_token),
      accessKey: secretOf(access_key),
      secretKey: secretOf(secret_key),
    }),
  };
}

function toTelemetry({ headers, resource, ...same }: NonNullable<RootFile["telemetry"]> = {}): Config["telemetry"] {
  const { endpoint, ...rest } = camelKeys(same);
  return {
    ...rest,
    ...(endpoint === undefined ? {} : { endpoint: withoutSlash(endpoint) }),
    ...(headers === undefined
      ? {}
      : { headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, new Secret(value)])) }),
    ...withoutAbsent({ resource }),
  };
}

const secretOf = (text: string | undefined) => (text === undefined ? undefined : new Secret(text));

function toModel({ offers, ...same }: ModelFile): ModelSettings {
  return { ...camelKeys(same), ...withoutAbsent({ offers: offers?.map((offer) => camelKeys(offer)) }) };
}

function toKey({
  project = "default",
  key,
  models = ["*"],
  expires_at,
  limits,
  end_users,
  limits_by_model,
  limits_by_tag,
  routing,
  provider_objects: providerObjects,
  billing,
  cache,
  ...same
}: KeyFile): StaticKeySettings {
  return {
    ...same,
    project,
    key: new Secret(key),
    models,
    ...withoutAbsent({
      expiresAt: expires_at === undefined ? undefined : new Date(expires_at).toISOString(),
      limits: limits && camelKeys(limits),
      partLimits: toPartLimits(withoutAbsent({ end_users, limits_by_model, limits_by_tag })),
      providerObjects,
      routing: routing && toRoutingSettings(routing),
      unpriced: billing?.unpriced,
      answerCache: cache && camelKeys(cache),
    }),
  };
}

type PartLimitFields = Pick<RootFile, "end_users" | "limits_by_model" | "limits_by_tag">;

/** Undefined if there are none. */
function toPartLimits({ end_users, limits_by_model, limits_by_tag }: PartLimitFields): PartLimitSettings | undefined {
  if (end_users === undefined && limits_by_model === undefined && limits_by_tag === undefined) return undefined;
  const patterns = (limits: RootFile["limits_by_model"]) =>
    limits && Object.fromEntries(Object.entries(limits).map(([pattern, one]) => [pattern, camelKeys(one)]));
  return withoutAbsent({
    endUsers:
      end_users &&
      withoutAbsent({ limits: camelKeys(end_users.limits ?? {}), required: end_users.required || undefined }),
    byModel: patterns(limits_by_model),
    byTag: patterns(limits_by_tag),
  });
}

const urlOf = (host: string, port: number): string => `http://${host.includes(":") ? `[${host}]` : host}:${port}`;

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, "");
}

/** The section with its defaults. */
function toRouting(file: RoutingFile = {}): GatewayRouting {
  const { breaker, max_concurrent, max_queue, queue_ms, ...calls } = file;
  return {
    calls: { ...DEFAULT_GATEWAY_ROUTING.calls, ...toRoutingSettings(calls) },
    breaker: { ...DEFAULT_GATEWAY_ROUTING.breaker, ...camelKeys(breaker ?? {}) },
    maxConcurrent: max_concurrent ?? DEFAULT_GATEWAY_ROUTING.maxConcurrent,
    maxQueue: max_queue ?? DEFAULT_GATEWAY_ROUTING.maxQueue,
    queueMs: queue_ms ?? DEFAULT_GATEWAY_ROUTING.queueMs,
  };
}

/** The routing of one key. */
function toRoutingSettings({
  type,
  primary_factor,
  fallback,
  sticky,
  require,
  ...calls
}: KeyRoutingFile): RoutingSettings {
  const preference: Preference = withoutAbsent({
    type,
    primaryFactor: primary_factor,
    fallback: fallback === undefined ? undefined : readFallback(fallback),
    sticky: sticky === undefined ? undefined : sticky === "prompt_cache",
  });
  return {
    ...camelKeys(calls),
    ...withoutAbsent({ require: require && toRequirements(require) }),
    preference: Object.keys(preference).length === 0 ? NO_PREFERENCE : preference,
  };
}

/** The schema has checked them. */
function toRequirements({ retention, region }: NonNullable<KeyRoutingFile["require"]>): Requirements {
  const required: Requirements = [
    ...(retention === undefined ? [] : [{ trait: "retention" as const, value: retention }]),
    ...(region === undefined ? [] : [{ trait: "region" as const, value: region }]),
  ];
  return required;
}
