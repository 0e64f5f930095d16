import { withoutAbsent } from "../base/without-absent.ts";
import { type ErrorKind, GatewayError } from "../canon/error.ts";
import { OVERFLOW_CODE, tellsOverflow } from "./answer/prompt-overflow.ts";
import { tellsUnfunded } from "./answer/unfunded.ts";

/** A failed upstream response, before it is classified. */
export interface UpstreamFailure {
  status: number;
  body: string;
  /** The value of its `retry-after` header. */
  retryAfterSeconds?: number | undefined;
}

/** What the error bodies of all dialects have in common. */
export interface FailureFacts {
  status: number;
  message: string | undefined;
  /** Set if the body says more than the status. */
  kind?: ErrorKind | undefined;
  retryAfterSeconds?: number | undefined;
  /** The upstream's code, the path of the invalid field, and more, if its protocol has them. */
  code?: string | undefined;
  path?: string | undefined;
  details?: unknown;
}

const KIND_OF_STATUS: Readonly<Record<number, ErrorKind>> = {
  400: "invalid_request",
  401: "upstream_credentials",
  402: "upstream_unfunded",
  403: "upstream_credentials",
  404: "not_found",
  408: "upstream_timeout",
  413: "too_large",
  422: "invalid_request",
  429: "rate_limited",
  503: "overloaded",
  504: "upstream_timeout",
  524: "upstream_timeout",
  529: "overloaded",
};

function kindOfStatus(status: number): ErrorKind {
  return KIND_OF_STATUS[status] ?? "upstream_failed";
}

/** Kinds caused by the request: the provider's message helps the caller, and is forwarded. */
const PROVIDER_WORDS_HELP: ReadonlySet<ErrorKind> = new Set([
  "invalid_request",
  "unsupported_parameter",
  "content_blocked",
  "not_found",
  "too_large",
  "rate_limited",
]);

/** Kinds that may pass by the time that a provider names (H19). */
const MAY_PASS: ReadonlySet<ErrorKind> = new Set(["rate_limited", "overloaded", "upstream_failed", "upstream_timeout"]);

/** Kinds with which hosts reject a prompt that is too long for the model. */
const MAY_BE_OVERFLOW: ReadonlySet<ErrorKind> = new Set(["invalid_request", "too_large"]);

/** "The provider" is replaced by its name where the failure leaves the relay, which also explains rejected credentials. */
const OWN_WORDS: Partial<Record<ErrorKind, string>> = {
  upstream_credentials: "The provider rejected the gateway's credentials or account.",
  upstream_unfunded: "The provider's account has no credit or quota left.",
  upstream_timeout: "The provider did not respond in time.",
  overloaded: "The provider is overloaded. Try again shortly.",
};

export function failureToError(facts: FailureFacts): GatewayError {
  const words = facts.message?.trim();
  const kind = tellsUnfunded(facts.code, words) ? "upstream_unfunded" : (facts.kind ?? kindOfStatus(facts.status));
  const message =
    words && PROVIDER_WORDS_HELP.has(kind)
      ? words
      : (OWN_WORDS[kind] ?? `The provider failed to answer (HTTP ${facts.status}).`);
  const reported = facts.retryAfterSeconds !== undefined && MAY_PASS.has(kind);
  const retryAfterSeconds = reported || kind === "rate_limited" ? clampRetryAfter(facts.retryAfterSeconds) : undefined;
  const asked = reported ? facts.retryAfterSeconds : undefined;
  const said = PROVIDER_WORDS_HELP.has(kind) && kind !== "rate_limited";
  const overflows = MAY_BE_OVERFLOW.has(kind) && tellsOverflow(words, facts.code);
  const code = overflows ? OVERFLOW_CODE : facts.code;
  return new GatewayError(
    kind,
    message,
    withoutAbsent({
      retryAfterSeconds,
      ...(said && code !== undefined ? { code } : {}),
      ...(said && facts.path !== undefined ? { path: facts.path } : {}),
      ...(said ? { upstreamDetails: facts.details } : {}),
      failure: {
        ...(facts.status === 200 ? {} : { status: facts.status }),
        ...(words ? { said: words } : {}),
        ...(asked !== undefined && asked > MAX_RETRY_AFTER ? { retryAfterSeconds: asked } : {}),
      },
    }),
  );
}

const MAX_RETRY_AFTER = 60;

/** SDKs ignore or obey absurd values. All of them handle values between one second and a minute (sdks 4). */
export function clampRetryAfter(seconds: number | undefined): number {
  return Math.min(MAX_RETRY_AFTER, Math.max(1, Math.ceil(seconds ?? 5)));
}
