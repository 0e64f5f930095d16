/** Why a POST brought no answer, or not the whole of it. */
export type PostFailure = "connect" | "broken";

const NOT_CONNECTED = new Set(["ConnectionRefused", "ECONNREFUSED", "ENOTFOUND", "FailedToOpenSocket", "EHOSTUNREACH"]);

/** Sends a body; resolves when the answer's headers are there. A redirect is an answer like any other: never followed. */
export function post(
  url: string,
  headers: Record<string, string>,
  body: string | Buffer,
  signal: AbortSignal,
): Promise<Response> {
  return fetch(url, { method: "POST", headers, body, signal, redirect: "manual" });
}

/** What the runtime's error says about the connection: it was never there, or it broke. */
export function postFailure(thrown: unknown): PostFailure {
  const code = typeof thrown === "object" && thrown !== null && "code" in thrown ? String(thrown.code) : "";
  return NOT_CONNECTED.has(code) ? "connect" : "broken";
}
