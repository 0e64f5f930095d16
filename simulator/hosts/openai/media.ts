import type { Exchange } from "../../exchange.ts";
import type { MediaHost, MediaStudio } from "../../media/host.ts";
import { inWordsOf } from "../../media/in-words-of.ts";
import { SHAPES } from "../compatible/text/errors.ts";
import { authenticate } from "./authenticate.ts";
import { makeImages } from "./images/images.ts";
import { createVideo, deleteVideo, remixVideo, sendVideo, tellVideo } from "./videos/videos.ts";

async function pictures(exchange: Exchange, studio: MediaStudio, keyHeader?: string): Promise<Response | undefined> {
  const image = /\/images\/(generations|edits)$/.exec(exchange.url.pathname)?.[1];
  if (image === undefined || exchange.method !== "POST") return undefined;
  const key = authenticate(exchange, studio, keyHeader);
  return makeImages(exchange, studio, key, image === "edits" ? "edit" : "generation");
}

/** OpenAI's pictures and films. */
export const openaiMedia: MediaHost = async (exchange, studio) => {
  const { method, url } = exchange;
  const [isVideo, id, part] = /\/videos(?:\/([\w-]+)(?:\/(content|remix))?)?$/.exec(url.pathname) ?? [];
  if (isVideo === undefined) return pictures(exchange, studio);
  const key = authenticate(exchange, studio);
  if (id === undefined) return method === "POST" ? createVideo(exchange, studio, key) : undefined;
  if (part === "content") return method === "GET" ? sendVideo(exchange, studio, key, id) : undefined;
  if (part === "remix") return method === "POST" ? remixVideo(exchange, studio, key, id) : undefined;
  if (method === "DELETE") return deleteVideo(studio, key, id);
  return method === "GET" ? tellVideo(studio, key, id) : undefined;
};

/** Azure's pictures: the same models, behind another header, and refusals in another shape. */
export const azureMedia: MediaHost = (exchange, studio) =>
  inWordsOf(SHAPES.azure.body, () => pictures(exchange, studio, "api-key"));
