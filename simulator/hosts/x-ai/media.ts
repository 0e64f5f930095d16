import type { Exchange } from "../../exchange.ts";
import type { MediaContext, MediaHost } from "../../media/media-host.ts";
import { withHostErrors } from "../../media/with-host-errors.ts";
import { authenticate } from "../openai/authenticate.ts";
import { inXAiWords } from "./errors.ts";
import { makeImages } from "./images/images.ts";
import type { VideoAction } from "./videos/read-request.ts";
import { createVideo, tellVideo } from "./videos/videos.ts";

const isAction = (text: string | undefined): text is VideoAction =>
  text === "generations" || text === "edits" || text === "extensions";

async function answer(exchange: Exchange, context: MediaContext): Promise<Response | undefined> {
  const { method, url } = exchange;
  const image = /\/images\/(generations|edits)$/.exec(url.pathname)?.[1];
  const video = /\/videos\/([\w-]+)$/.exec(url.pathname)?.[1];
  if (image !== undefined && method === "POST") {
    return makeImages(exchange, context, authenticate(exchange, context), image === "edits");
  }
  if (isAction(video) && method === "POST") {
    return createVideo(exchange, context, authenticate(exchange, context), video);
  }
  if (video !== undefined && method === "GET") return tellVideo(context, authenticate(exchange, context), video);
  return undefined;
}

/** xAI's images and videos. */
export const xAiMedia: MediaHost = (exchange, context) => withHostErrors(inXAiWords, () => answer(exchange, context));
