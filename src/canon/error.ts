import { withoutAbsent } from "../base/without-absent.ts";
import { completionTokens, type Usage } from "./usage.ts";

/**
 * The only error type of the gateway. `ERROR_TABLE` alone decides the HTTP status and the retries of each kind. Each dialect has its own
 * `type` and `code` for it (`dialects/<name>/error-words.ts`).
 */
export type ErrorKind =
  | "invalid_request"
  | "unsupported_parameter"
  | "unauthenticated"
  | "budget_exhausted"
  | "forbidden"
  | "not_found"
  | "method_not_allowed"
  | "too_large"
  | "unsupported_media_type"
  | "rate_limited"
  | "content_blocked"
  | "upstream_credentials"
  | "upstream_unfunded"
  | "upstream_failed"
  | "upstream_timeout"
  | "overloaded"
  | "stopped"
  | "internal";

export interface ErrorRule {
  status: number;
  /** Retry the same offer once. */
  retrySameOffer: boolean;
  /** Another offer may succeed. */
  tryNextOffer: boolean;
  /** The same request may succeed later, so the client's SDK may retry. */
  clientMayRetry: boolean;
}

const rule = (
  status: number,
  again: "never" | "next" | "same-then-next",
  client: "may retry" | "must not retry" = status < 500 ? "must not retry" : "may retry",
): ErrorRule => ({
  status,
  retrySameOffer: again === "same-then-next",
  tryNextOffer: again !== "never",
  clientMayRetry: client === "may retry",
});

// biome-ignore format: a table is read in columns
export const ERROR_TABLE: Readonly<Record<ErrorKind, ErrorRule>> = {
  invalid_request:        rule(400, "never"),
  unsupported_parameter:  rule(400, "never"),
  unauthenticated:        rule(401, "never"),
  budget_exhausted:       rule(402, "never"),
  forbidden:              rule(403, "never"),
  not_found:              rule(404, "never"),
  method_not_allowed:     rule(405, "never"),
  too_large:              rule(413, "never"),
  unsupported_media_type: rule(415, "never"),
  rate_limited:           rule(429, "next", "may retry"),
  content_blocked:        rule(400, "never"),
  upstream_credentials:   rule(502, "next", "must not retry"),
  upstream_unfunded:      rule(503, "next", "must not retry"),
  upstream_failed:        rule(502, "same-then-next"),
  upstream_timeout:       rule(504, "next"),
  overloaded:             rule(503, "same-then-next"),
  stopped:                rule(503, "never", "must not retry"),
  internal:               rule(500, "never"),
};

export interface ErrorDetails {
  /** JSON path of the invalid field, such as `messages[2].content`. */
  path?: string;
  /** Replaces the table's chat code if there is a more specific one. */
  code?: string;
  /** Seconds until the caller may retry. */
  retryAfterSeconds?: number;
  /** What the upstream returned besides its message about an invalid request, for callers of its own dialect. */
  upstreamDetails?: unknown;
  /** The cause of a provider's failure. Never shown to callers. */
  failure?: FailureCause | undefined;
  cause?: unknown;
}

/** What the `with…` methods can change. */
interface Changes extends Pick<ErrorDetails, "path" | "code" | "upstreamDetails" | "failure"> {
  message?: string;
}

export class GatewayError extends Error {
  readonly kind: ErrorKind;
  readonly path: string | undefined;
  readonly code: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly upstreamDetails: unknown;
  readonly failure: FailureCause | undefined;
  /** Only the limit of a model was reached: another model may serve the call. */
  isOfModel = false;

  constructor(kind: ErrorKind, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "GatewayError";
    this.kind = kind;
    this.path = details.path;
    this.code = details.code;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.upstreamDetails = details.upstreamDetails;
    this.failure = details.failure;
  }

  get rule(): ErrorRule {
    return ERROR_TABLE[this.kind];
  }

  /** The message, prefixed with the path unless it mentions it. Not every protocol has a field for the path. */
  get messageWithPath(): string {
    if (this.path === undefined || this.path === "" || this.message.includes(this.path)) return this.message;
    return `${this.path}: ${this.message}`;
  }

  withMessage(message: string): this {
    return this.#with({ message });
  }

  /** The same error with the client's name for the field. */
  withPath(path: string): this {
    return this.#with({ path });
  }

  /** The same error with more details about its cause. */
  withFailure(failure: FailureCause): this {
    return this.#with({ failure: { ...this.failure, ...failure } });
  }

  /** The same error with every text replaced that a caller may read. */
  withTexts(change: (text: string) => string): this {
    return this.#with({
      message: change(this.message),
      ...(this.path === undefined ? {} : { path: change(this.path) }),
      ...(this.code === undefined ? {} : { code: change(this.code) }),
      upstreamDetails: changeTexts(this.upstreamDetails, change),
    });
  }

  /** Keeps the class, because some errors are recognised by it. */
  #with(changes: Changes): this {
    const { message = this.message, path = this.path, code = this.code } = changes;
    const { upstreamDetails = this.upstreamDetails, failure = this.failure } = changes;
    const Same = this.constructor as new (...parameters: ConstructorParameters<typeof GatewayError>) => this;
    return new Same(this.kind, message, {
      ...withoutAbsent({ path, code, retryAfterSeconds: this.retryAfterSeconds }),
      upstreamDetails,
      failure,
      cause: this.cause,
    });
  }
}

/** Deeper details are dropped, which also bounds the recursion. */
const MAX_DETAIL_DEPTH = 64;

/** Replaces keys as well as values. */
function changeTexts(value: unknown, change: (text: string) => string, depth = 0): unknown {
  if (typeof value === "string") return change(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth === MAX_DETAIL_DEPTH) return null;
  const changed = (item: unknown) => changeTexts(item, change, depth + 1);
  if (Array.isArray(value)) return value.map(changed);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [change(name), changed(item)]));
}

/** Converts anything thrown to a GatewayError. Unexpected errors become `internal`, and their text is not exposed. */
export function asGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  return new GatewayError(
    "internal",
    "The gateway could not process this request because of an internal error. The request itself is not at fault.",
    {
      cause: thrown,
    },
  );
}

/**
 * The cause of a provider's failure, for operators. Callers see only the error's message, because host names and raw messages expose
 * internals (S22).
 */
export interface FailureCause {
  /** The provider's name in the configuration. */
  provider?: string;
  /** The host and port of the request. */
  host?: string;
  /** The HTTP status of the provider's response. */
  status?: number;
  /** How long the provider wants no requests, if that is longer than what callers see. */
  retryAfterSeconds?: number;
  /** The system's error code for a failed connection, such as ECONNREFUSED. */
  errno?: string;
  /** What the operator can do about it. */
  cure?: string;
  /** The provider's own message, without the gateway's secrets. It may quote a prompt, so it is only for debug logs and operators. */
  said?: string;
  /** The usage that the provider reported before it failed. It is billed, and the provider is not called again for it. */
  usage?: Usage;
}

/** A provider's failure with the usage it reported. That usage is billed, whichever provider answers in the end (H14). */
export const paidFailure = <Failure extends GatewayError>(error: Failure, usage: Usage | undefined): Failure =>
  usage === undefined || completionTokens(usage) === 0 ? error : error.withFailure({ usage });
