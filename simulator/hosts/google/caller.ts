import { bearerOf } from "../../credentials.ts";
import type { Exchange } from "../../exchange.ts";
import type { MediaContext } from "../../media/media-host.ts";
import { type GoogleHost, missingKey, wrongKey, wrongToken } from "./text/errors.ts";

/** Whose operations these are. A token lives for an hour, so operations made with one belong to the project. */
export function callerOf(exchange: Exchange, context: MediaContext, host: GoogleHost): string {
  const key = exchange.headers.get("x-goog-api-key") ?? exchange.url.searchParams.get("key");
  if (key !== null && key !== "") {
    if (!context.acceptsKey(key)) throw wrongKey(host);
    return `key ${key}`;
  }
  const bearer = bearerOf(exchange.headers);
  if (bearer === undefined || bearer === "") throw host === "vertex" ? wrongToken(host) : missingKey();
  const good = context.acceptsToken(bearer) || (host === "gemini" && context.acceptsKey(bearer));
  if (!good) throw wrongToken(host);
  if (host === "gemini") return `key ${bearer}`;
  return `project ${/\/projects\/([^/]+)\//.exec(exchange.url.pathname)?.[1] ?? ""}`;
}
