/** Why a POST brought no answer. */
export type PostFailure = "connect" | "broken" | "aborted";

export class PostError extends Error {
  readonly failure: PostFailure;

  constructor(failure: PostFailure, cause: unknown) {
    super(`the upstream call failed: ${failure}`, { cause });
    this.name = "PostError";
    this.failure = failure;
  }
}

const NOT_CONNECTED = new Set(["ConnectionRefused", "ECONNREFUSED", "ENOTFOUND", "FailedToOpenSocket", "EHOSTUNREACH"]);

/** Sends a body and resolves when the answer's headers are there. A redirect is an answer like any other: never followed. */
export async function post(
  url: string,
  headers: Record<string, string>,
  body: string | Buffer,
  signal: AbortSignal,
): Promise<Response> {
  try {
    return await fetch(url, { method: "POST", headers, body, signal, redirect: "manual" });
  } catch (cause) {
    throw asPostError(cause, signal);
  }
}

export function asPostError(cause: unknown, signal: AbortSignal): PostError {
  if (signal.aborted) return new PostError("aborted", cause);
  const code = typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : "";
  return new PostError(NOT_CONNECTED.has(code) ? "connect" : "broken", cause);
}
