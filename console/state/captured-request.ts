import type { CapturedBodies, ReceiptDetail } from "../api/types.ts";

export interface CapturedRequest {
  /** The path on the client listener. */
  path: string;
  headers: Readonly<Record<string, string>>;
  /** JSON. */
  body: string;
}

const PATHS: Readonly<Record<string, string>> = {
  chat: "/v1/chat/completions",
  responses: "/v1/responses",
  messages: "/v1/messages",
  interactions: "/v1beta/interactions",
};
const PATHS_OF_VERBS: Readonly<Record<string, string>> = {
  images: "/v1/images/generations",
  embeddings: "/v1/embeddings",
  rerank: "/v1/rerank",
  speech: "/v1/audio/speech",
  moderations: "/v1/moderations",
  completions: "/v1/completions",
};
const HEADERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  messages: { "anthropic-version": "2023-06-01" },
};

type Called = Pick<ReceiptDetail, "verb" | "model" | "stream" | "dialect" | "captured">;

function pathOf({ verb, model, stream, dialect: { client } }: Called): string | undefined {
  if (verb === "generate" && client === "genai")
    return `/v1beta/models/${encodeURIComponent(model)}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`;
  if (verb === "count_tokens") return client === "messages" ? "/v1/messages/count_tokens" : undefined;
  return verb === "generate" ? PATHS[client] : PATHS_OF_VERBS[verb];
}

/** Why the request of a call cannot be repeated from here, in a sentence; undefined if it may be. */
export function whyNotRepeatable(call: Called, role: string | undefined): string | undefined {
  if (!call.captured) return "The request was not captured: turn on capture for the key to repeat later calls.";
  if (role === "viewer") return "Viewers cannot read captured requests.";
  return pathOf(call) === undefined ? `Requests of this kind (${call.verb}) cannot be repeated from here.` : undefined;
}

/** The request as its client sent it. Throws a sentence if what was kept is not all of it. */
export function capturedRequest(call: Called, { client_request: body }: CapturedBodies): CapturedRequest {
  const path = pathOf(call);
  if (path === undefined || body === null) throw new Error("No request was captured for this call.");
  if (body.cut) throw new Error("The captured request was truncated, so it cannot be repeated.");
  if (/\[[\w/+.-]{1,80}, \d+ bytes(, medium \d+)?\]/.test(body.text))
    throw new Error("Media were removed from the captured request, so it cannot be repeated.");
  return { path, headers: HEADERS[call.dialect.client] ?? {}, body: body.text };
}

const shell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** A command that repeats the request. The key comes from the environment. */
export const curlOf = (base: string, { path, headers, body }: CapturedRequest): string =>
  [
    `curl ${shell(base + path)}`,
    '-H "Authorization: Bearer $TRIVIUM_API_KEY"',
    '-H "Content-Type: application/json"',
    ...Object.entries(headers).map(([name, value]) => `-H ${shell(`${name}: ${value}`)}`),
    `-d ${shell(body)}`,
  ].join(" \\\n  ");
