import type { MediaHost } from "../../host.ts";
import { authenticate } from "./authenticate.ts";
import { makeImages } from "./images.ts";
import { createVideo, deleteVideo, remixVideo, sendVideo, tellVideo } from "./videos.ts";

/** OpenAI's pictures and films. */
export const openaiMedia: MediaHost = async (exchange, studio) => {
  const { method, url } = exchange;
  const image = /\/images\/(generations|edits)$/.exec(url.pathname)?.[1];
  const [isVideo, id, part] = /\/videos(?:\/([\w-]+)(?:\/(content|remix))?)?$/.exec(url.pathname) ?? [];
  if (image !== undefined && method === "POST") {
    const key = authenticate(exchange, studio);
    return makeImages(exchange, studio, key, image === "edits" ? "edit" : "generation");
  }
  if (isVideo === undefined) return undefined;
  const key = authenticate(exchange, studio);
  if (id === undefined) return method === "POST" ? createVideo(exchange, studio, key) : undefined;
  if (part === "content") return method === "GET" ? sendVideo(exchange, studio, key, id) : undefined;
  if (part === "remix") return method === "POST" ? remixVideo(exchange, studio, key, id) : undefined;
  if (method === "DELETE") return deleteVideo(studio, key, id);
  return method === "GET" ? tellVideo(studio, key, id) : undefined;
};
