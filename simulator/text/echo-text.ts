import { isObject, type Json, type JsonObject } from "../json.ts";
import type { IncomingCall } from "./adapter.ts";
import { shorten } from "./answer-text.ts";

const MAX_STRING_CHARACTERS = 2_000;
const CREDENTIALS = new Set(["authorization", "api-key", "x-amz-security-token", "x-api-key", "x-goog-api-key"]);

/** Headers by name; a credential shows its scheme and length, never itself. */
function visibleHeaders(headers: Headers): JsonObject {
  const visible: JsonObject = {};
  for (const [name, value] of headers) {
    const scheme = /^\w+ /.exec(value)?.[0] ?? "";
    visible[name] = CREDENTIALS.has(name) ? `${scheme}[${value.length - scheme.length} characters]` : value;
  }
  return visible;
}

function shortened(value: Json): Json {
  if (typeof value === "string") {
    return value.length <= MAX_STRING_CHARACTERS ? value : `${shorten(value, 40)} (${value.length} characters)`;
  }
  if (Array.isArray(value)) return value.map(shortened);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shortened(member)]));
}

/** What arrived, for tests that ask what a gateway really sent. */
export function echoText(call: IncomingCall): string {
  return JSON.stringify({
    simulator: "trivium",
    method: call.method,
    path: call.url.pathname,
    query: Object.fromEntries([...call.url.searchParams].filter(([name]) => name !== "key")),
    headers: visibleHeaders(call.headers),
    body: shortened(call.body),
  });
}
