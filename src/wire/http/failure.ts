/** Why a POST brought no answer, or not the whole of it: the host was never reached, or the connection broke. */
export type FailureKind = "connect" | "broken";

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
