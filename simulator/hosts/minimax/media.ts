import { bearerOf } from "../../credentials.ts";
import type { Exchange } from "../../exchange.ts";
import { isJson } from "../../media/is-json.ts";
import type { MediaContext, MediaHost } from "../../media/media-host.ts";
import { makeImages } from "./images/images.ts";
import { badParameters, CODES, firstWord, secondWord, type Word } from "./refusals.ts";
import { showFile, showVideo, startVideo } from "./videos/v1-videos.ts";
import { cancelV2Video, showV2Video, startV2Video } from "./videos/v2-videos.ts";

const FIRST = /\/v1\/(image_generation|video_generation|query\/video_generation|files\/retrieve)$/;
const SECOND = /\/v2\/(query\/)?video_generation(?:\/([\w-]+))?$/;

function authenticate(exchange: Exchange, context: MediaContext, word: Word): string {
  const key = bearerOf(exchange.headers);
  if (key === undefined || key === "") {
    throw word(401, CODES.unauthorised, "login fail: carry the API key in the Authorization header");
  }
  if (!context.acceptsKey(key)) throw word(401, CODES.invalidKey, "invalid api key");
  if (exchange.method === "POST" && !isJson(exchange.headers)) {
    throw badParameters(word, "the content type must be application/json");
  }
  return key;
}

/** MiniMax: images, videos in three steps, and the videos of its second generation. */
export const minimaxMedia: MediaHost = async (exchange, context) => {
  const { pathname } = exchange.url;
  const call = `${exchange.method} ${FIRST.exec(pathname)?.[1] ?? ""}`;
  const first = (): string => authenticate(exchange, context, firstWord);
  if (call === "POST image_generation") return makeImages(exchange, context, first());
  if (call === "POST video_generation") return startVideo(exchange, context, first());
  if (call === "GET query/video_generation") return showVideo(exchange, context, first());
  if (call === "GET files/retrieve") return showFile(exchange, context, first());

  const [matched, query, id] = SECOND.exec(pathname) ?? [];
  if (matched === undefined) return undefined;
  const second = (): string => authenticate(exchange, context, secondWord);
  if (exchange.method === "POST" && query === undefined && id === undefined) {
    return startV2Video(exchange, context, second());
  }
  if (exchange.method === "GET" && query !== undefined && id !== undefined) return showV2Video(context, id, second());
  if (exchange.method === "DELETE" && query === undefined && id !== undefined) {
    return cancelV2Video(context, id, second());
  }
  return undefined;
};
