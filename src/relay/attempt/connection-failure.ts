import { GatewayError } from "../../canon/error.ts";
import { wordsOfErrno } from "../../providers/name-provider.ts";
import type { FailureKind } from "../../wire/http/failure.ts";

/** A connection to a provider that could not be opened, or broke. */
export function connectionFailure(kind: FailureKind, cause: unknown): GatewayError {
  const errno = errnoOf(cause);
  const what = kind === "connect" ? "The provider could not be reached" : "The provider closed the connection";
  return new GatewayError("upstream_failed", `${what}${wordsOfErrno(errno)}.`, {
    failure: errno === undefined ? {} : { errno },
    cause,
  });
}

/** The system's error code, which may be nested in errors of the runtime or of our HTTP client. */
export function errnoOf(thrown: unknown): string | undefined {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 4; error = error.cause, depth++) {
    if ("code" in error && typeof error.code === "string" && error.code !== "") return error.code;
  }
  return undefined;
}
