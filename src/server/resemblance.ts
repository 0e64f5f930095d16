import type { DialectName } from "../canon/dialect-name.ts";

/** An address that does not exist is answered in the protocol whose addresses it looks like. */
export function resembledDialect(path: string, headers: Headers): DialectName {
  if (/^\/api\/(genai|vertex-ai)\b|^\/v1beta|\/publishers\/|:[A-Za-z]+$/.test(path)) return "genai";
  if (/^\/api\/(msg|anthropic)\b|\/messages\b/.test(path)) return "messages";
  if (headers.has("anthropic-version") || headers.has("partner-version")) return "messages";
  return headers.has("x-goog-api-key") || headers.has("x-goog-api-client") ? "genai" : "chat";
}
