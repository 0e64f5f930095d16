import type { Exchange } from "../../exchange.ts";
import type { MediaContext, MediaHost } from "../../media/media-host.ts";
import { withHostErrors } from "../../media/with-host-errors.ts";
import { authenticate } from "../openai/authenticate.ts";
import { inZhipuWords } from "./errors.ts";
import { makeImage } from "./images/images.ts";
import { tellTask } from "./tasks.ts";
import { makeVideo } from "./videos/videos.ts";

async function answer(exchange: Exchange, context: MediaContext): Promise<Response | undefined> {
  const { method, url } = exchange;
  const id = /\/async-result\/([\w-]+)$/.exec(url.pathname)?.[1];
  if (id !== undefined && method === "GET") return tellTask(context, authenticate(exchange, context), id);
  if (method !== "POST") return undefined;
  if (url.pathname.endsWith("/images/generations")) {
    const background = url.pathname.endsWith("/async/images/generations");
    return makeImage(exchange, context, authenticate(exchange, context), background);
  }
  if (!url.pathname.endsWith("/videos/generations")) return undefined;
  return makeVideo(exchange, context, authenticate(exchange, context));
}

/** Z.ai's images and videos. */
export const zAiMedia: MediaHost = (exchange, context) => withHostErrors(inZhipuWords, () => answer(exchange, context));
