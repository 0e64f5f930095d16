import { bearerOf } from "../../credentials.ts";
import type { Exchange } from "../../exchange.ts";
import { isJson } from "../../media/is-json.ts";
import type { MediaContext, MediaHost } from "../../media/media-host.ts";
import { showGeneration, startGeneration } from "./generations.ts";
import { readImage, readVideo } from "./read-generation.ts";
import { refused } from "./refusals.ts";

const GENERATIONS = /\/generations(?:\/([\w-]+))?$/;

function authenticate(exchange: Exchange, context: MediaContext): string {
  const key = bearerOf(exchange.headers);
  if (key === undefined || key === "" || !context.acceptsKey(key)) throw refused(401, "Not authenticated");
  return key;
}

/** Luma: videos and images, all of them as generations that are asked for again. */
export const lumaMedia: MediaHost = async (exchange, context) => {
  const [matched, name] = GENERATIONS.exec(exchange.url.pathname) ?? [];
  if (matched === undefined) return undefined;
  if (exchange.method === "GET" && name !== undefined) {
    return showGeneration(context, name, authenticate(exchange, context));
  }
  const makes = name === undefined || name === "video" || name === "image";
  if (exchange.method !== "POST" || !makes) return undefined;
  const key = authenticate(exchange, context);
  if (!isJson(exchange.headers)) throw refused(415, "The content type must be application/json");
  return startGeneration(exchange, name === "image" ? readImage(exchange) : readVideo(exchange), context, key);
};
