import { Secret } from "../base/secret.ts";
import type { Config } from "../config/config.ts";

/** Where traces and metrics go, and how. */
export interface TelemetrySettings {
  tracesUrl: string | undefined;
  metricsUrl: string | undefined;
  headers: Readonly<Record<string, Secret>>;
  gzip: boolean;
  timeoutMs: number;
  metricsEveryMs: number;
  ratio: number;
  slowMs: number;
  serviceName: string;
  resource: Readonly<Record<string, string>>;
}

type Environment = Readonly<Record<string, string | undefined>>;

const DEFAULT_RATIO = 0.1;
const DEFAULT_TIMEOUT_MS = 10_000;

/**
 * The configuration, else the usual environment variables. Undefined if nothing is exported. `warn`: a variable that was set
 * for another program must not stop the gateway.
 */
export function telemetrySettings(
  { telemetry }: Pick<Config, "telemetry">,
  environment: Environment,
  warn: (message: string) => void,
): TelemetrySettings | undefined {
  const variable = (name: string) => environment[name]?.trim() || undefined;
  const { endpoint } = telemetry;
  if (endpoint === undefined && variable("OTEL_SDK_DISABLED")?.toLowerCase() === "true") return undefined;
  const urlOf = (signal: "traces" | "metrics"): string | undefined => {
    if (telemetry[signal] === false) return undefined;
    if (endpoint !== undefined) return `${endpoint}/v1/${signal}`;
    return variableUrl(signal, variable, warn);
  };
  const tracesUrl = urlOf("traces");
  const metricsUrl = urlOf("metrics");
  if (tracesUrl === undefined && metricsUrl === undefined) return undefined;
  const variableHeaders = endpoint === undefined ? pairsIn(variable("OTEL_EXPORTER_OTLP_HEADERS")) : {};
  const secrets = Object.entries(variableHeaders).map(([name, value]) => [name, new Secret(value)] as const);
  return {
    tracesUrl,
    metricsUrl,
    headers: { ...Object.fromEntries(secrets), ...telemetry.headers },
    gzip: (telemetry.compression ?? variable("OTEL_EXPORTER_OTLP_COMPRESSION")) === "gzip",
    timeoutMs: telemetry.timeoutMs ?? (positive(variable("OTEL_EXPORTER_OTLP_TIMEOUT")) || DEFAULT_TIMEOUT_MS),
    metricsEveryMs: (telemetry.metricsIntervalSeconds ?? 60) * 1000,
    ratio: telemetry.sampleRatio ?? variableRatio(variable),
    slowMs: (telemetry.slowSeconds ?? 30) * 1000,
    serviceName: telemetry.serviceName ?? variable("OTEL_SERVICE_NAME") ?? "trivium",
    resource: { ...pairsIn(variable("OTEL_RESOURCE_ATTRIBUTES")), ...telemetry.resource },
  };
}

type Variable = (name: string) => string | undefined;

function variableUrl(
  signal: "traces" | "metrics",
  variable: Variable,
  warn: (message: string) => void,
): string | undefined {
  const own = `OTEL_EXPORTER_OTLP_${signal.toUpperCase()}`;
  if (variable(`OTEL_${signal.toUpperCase()}_EXPORTER`) === "none") return undefined;
  const base = variable("OTEL_EXPORTER_OTLP_ENDPOINT");
  const url =
    variable(`${own}_ENDPOINT`) ?? (base === undefined ? undefined : `${base.replace(/\/+$/, "")}/v1/${signal}`);
  if (url === undefined) return undefined;
  const protocol = variable(`${own}_PROTOCOL`) ?? variable("OTEL_EXPORTER_OTLP_PROTOCOL") ?? "http/json";
  if (protocol !== "http/json") {
    warn(
      `${signal} are not exported: OTEL_EXPORTER_OTLP_PROTOCOL is ${protocol}, but the gateway supports only http/json`,
    );
    return undefined;
  }
  if (/^https?:\/\//.test(url) && URL.canParse(url)) return url;
  warn(`${signal} are not exported: their endpoint in the environment is not an http or https URL`);
  return undefined;
}

function variableRatio(variable: Variable): number {
  const sampler = variable("OTEL_TRACES_SAMPLER") ?? "";
  if (sampler.endsWith("always_on")) return 1;
  if (sampler.endsWith("always_off")) return 0;
  const given = Number(variable("OTEL_TRACES_SAMPLER_ARG") ?? Number.NaN);
  return given >= 0 && given <= 1 ? given : DEFAULT_RATIO;
}

/** `name=value,name=value`, percent-encoded. */
function pairsIn(text: string | undefined): Record<string, string> {
  const pairs = (text ?? "").split(",").flatMap((pair) => {
    const at = pair.indexOf("=");
    if (at <= 0) return [];
    return [[pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())] as const];
  });
  return Object.fromEntries(pairs);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // It was not encoded.
    return text;
  }
}

const positive = (text: string | undefined): number => Math.max(0, Number(text ?? 0) || 0);
