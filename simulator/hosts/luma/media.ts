import { bearerOf } from "../../credentials.ts";
import type { Exchange } from "../../exchange.ts";
import type { MediaHost, MediaStudio } from "../../media/host.ts";
import { saysJson } from "../../media/says-json.ts";
import { showGeneration, startGeneration } from "./generations.ts";
import { readFilm, readPicture } from "./read-generation.ts";
import { refused } from "./refusals.ts";

const GENERATIONS = /\/generations(?:\/([\w-]+))?$/;

function authenticate(exchange: Exchange, studio: MediaStudio): string {
  const key = bearerOf(exchange.headers);
  if (key === undefined || key === "" || !studio.acceptsKey(key)) throw refused(401, "Not authenticated");
  return key;
}

/** Luma: films and pictures, all of them as generations that are asked for again. */
export const lumaMedia: MediaHost = async (exchange, studio) => {
  const [matched, name] = GENERATIONS.exec(exchange.url.pathname) ?? [];
  if (matched === undefined) return undefined;
  if (exchange.method === "GET" && name !== undefined) {
    return showGeneration(studio, name, authenticate(exchange, studio));
  }
  const makes = name === undefined || name === "video" || name === "image";
  if (exchange.method !== "POST" || !makes) return undefined;
  const key = authenticate(exchange, studio);
  if (!saysJson(exchange.headers)) throw refused(415, "The content type must be application/json");
  return startGeneration(exchange, name === "image" ? readPicture(exchange) : readFilm(exchange), studio, key);
};
