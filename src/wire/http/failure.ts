/**
 * Why a request got no complete response: the host was never reached (`connect`), the connection broke (`broken`), or a reused
 * connection ended before the first byte of a response, perhaps because the host had closed it as idle (`stale`).
 */
export type FailureKind = "connect" | "broken" | "stale";

export class HttpFailure extends Error {
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "HttpFailure";
    this.kind = kind;
  }
}

/** The host sent something that is not HTTP, or that two readers could interpret differently. */
export const malformed = (what: string) => new HttpFailure("broken", `the host sent an invalid HTTP response: ${what}`);
