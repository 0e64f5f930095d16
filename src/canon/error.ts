import type { FailureCause } from "./failure-cause.ts";

/**
 * One error type for the whole gateway. `ERROR_TABLE` says, for each kind, the HTTP status and whether the relay may try
 * again; nothing else in the program decides either. The words for it are the dialects' own (`dialects/<name>/error-words.ts`).
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
  | "upstream_failed"
  | "upstream_timeout"
  | "overloaded"
  | "internal";

export interface ErrorRule {
  status: number;
  /** The same offer is worth one more try. */
  retrySameOffer: boolean;
  /** Another offer may succeed where this one failed. */
  tryNextOffer: boolean;
  /** The same request may succeed later: the client's SDK may send it again. */
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
  upstream_failed:        rule(502, "same-then-next"),
  upstream_timeout:       rule(504, "next"),
  overloaded:             rule(503, "same-then-next"),
  internal:               rule(500, "never"),
};

export interface ErrorDetails {
  /** JSON path of the field at fault, such as `messages[2].content`. */
  path?: string;
  /** Replaces the table's chat code, where the cause has a more exact word. */
  code?: string;
  /** Seconds after which a caller may try again. */
  retryAfterSeconds?: number;
  /** What the upstream said beyond its message about a fault of the request; for callers of its own dialect. */
  upstreamDetails?: unknown;
  /** Where a provider's failure came from; never shown to callers. */
  failure?: FailureCause | undefined;
  cause?: unknown;
}

/** What may change of an error that stays the same. */
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

  /** The message, with the path at fault before it where it does not name it: not every protocol has a field for that. */
  get messageWithPath(): string {
    if (this.path === undefined || this.path === "" || this.message.includes(this.path)) return this.message;
    return `${this.path}: ${this.message}`;
  }

  /** The same error in other words. */
  withMessage(message: string): this {
    return this.#with({ message });
  }

  /** The same error at a field that the client knows by another name. */
  withPath(path: string): this {
    return this.#with({ path });
  }

  /** The same error with more that is known of where it came from. */
  withFailure(failure: FailureCause): this {
    return this.#with({ failure: { ...this.failure, ...failure } });
  }

  /** The same error with every text changed that a caller may come to read. */
  withTexts(change: (text: string) => string): this {
    return this.#with({
      message: change(this.message),
      ...(this.path === undefined ? {} : { path: change(this.path) }),
      ...(this.code === undefined ? {} : { code: change(this.code) }),
      upstreamDetails: changeTexts(this.upstreamDetails, change),
    });
  }

  /** Its class stays too: some errors are recognised by theirs. */
  #with(changes: Changes): this {
    const { message = this.message, path = this.path, code = this.code } = changes;
    const { upstreamDetails = this.upstreamDetails, failure = this.failure } = changes;
    const Same = this.constructor as new (...parameters: ConstructorParameters<typeof GatewayError>) => this;
    return new Same(this.kind, message, {
      ...(path === undefined ? {} : { path }),
      ...(code === undefined ? {} : { code }),
      ...(this.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: this.retryAfterSeconds }),
      upstreamDetails,
      failure,
      cause: this.cause,
    });
  }
}

/** Details that are nested deeper are of no use, and walking into them might never end. */
const MAX_DETAIL_DEPTH = 64;

/** Names are texts too. */
function changeTexts(value: unknown, change: (text: string) => string, depth = 0): unknown {
  if (typeof value === "string") return change(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth === MAX_DETAIL_DEPTH) return null;
  const changed = (item: unknown) => changeTexts(item, change, depth + 1);
  if (Array.isArray(value)) return value.map(changed);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [change(name), changed(item)]));
}

/** Whatever was thrown, as a GatewayError; what is not one is a fault of ours, and its text stays inside. */
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
