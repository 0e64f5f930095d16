/** Which calls get a line: all, those that failed at a provider or in the gateway, or none. */
export const CALL_LOGS = ["all", "errors", "off"] as const;

interface CountedUsage {
  input?: number;
  cacheRead?: number;
  cacheWrite5m?: number;
  cacheWrite1h?: number;
  output?: number;
  reasoning?: number;
  images?: number;
  seconds?: number;
}

/** The facts about a call that the log shows. A receipt has them. */
export interface SettledCall {
  id: string;
  project: string;
  /** The key's id, never the key. */
  key: string;
  createdAtMs: number;
  model: string;
  provider: string;
  upstreamModel: string;
  verb: string;
  clientDialect: string;
  upstreamDialect: string;
  lane: string;
  stream: boolean;
  /** `ok`, `client_gone`, or the kind of the error that ended the call. */
  outcome: string;
  offers: readonly { outcome: string }[];
  fields: readonly unknown[];
  usage: CountedUsage;
  costNanoUsd: number;
  firstContentMs?: number;
  totalMs: number;
}

/** A failed attempt in the gateway's words, because a provider's message may quote a prompt. */
export interface FailedAttempt {
  provider: string;
  kind: string;
  host?: string;
  /** The HTTP status of its answer. */
  status?: number;
  /** Why there was no response, such as ECONNREFUSED. */
  errno?: string;
  /** What the operator can do. */
  cure?: string;
}

/** Facts that only the log shows. */
export interface CallFacts {
  /** The gateway's own, which needs no escaping. */
  requestId: string | undefined;
  /** Ids are hexadecimal digits. */
  trace?: { readonly traceId: string; readonly spanId: string } | undefined;
  /** Host and port of the provider that answered. */
  host: string | undefined;
  failures: readonly FailedAttempt[];
}

export type CallLevel = "info" | "warn" | "error";

/** Mistakes in a request, and clients that disconnect, do not concern the operator. */
const CLIENTS_OWN: ReadonlySet<string> = new Set([
  "ok",
  "client_gone",
  "invalid_request",
  "unsupported_parameter",
  "content_blocked",
  "too_large",
  "not_found",
  "forbidden",
  "unsupported_media_type",
]);
/** Failures that persist until someone acts. */
const LASTING: ReadonlySet<string> = new Set(["upstream_credentials", "upstream_unfunded", "internal"]);

/** A failed provider is reported even if another one answered instead. */
export function levelOfCall({ outcome }: SettledCall, { failures }: CallFacts): CallLevel {
  if (LASTING.has(outcome) || failures.some(({ kind }) => LASTING.has(kind))) return "error";
  return CLIENTS_OWN.has(outcome) && failures.every(({ kind }) => CLIENTS_OWN.has(kind)) ? "info" : "warn";
}
