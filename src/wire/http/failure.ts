/**
 * Why a request got no answer, or not the whole of it: the host was never reached, the connection broke, or it was a kept
 * one that ended before a byte of an answer, which a host may have closed because of its age.
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

/** The host sent what is not HTTP, or HTTP that two readers could read in two ways. */
export const malformed = (what: string) => new HttpFailure("broken", `the host's answer is not sound HTTP: ${what}`);
