import type { Exchange } from "../../exchange.ts";
import type { MediaHost, MediaStudio } from "../../media/host.ts";
import { inWordsOf } from "../../media/in-words-of.ts";
import { authenticate } from "../openai/authenticate.ts";
import { inZhipuWords } from "./errors.ts";
import { makeImage } from "./images/images.ts";
import { tellTask } from "./tasks.ts";
import { makeVideo } from "./videos/videos.ts";

async function answer(exchange: Exchange, studio: MediaStudio): Promise<Response | undefined> {
  const { method, url } = exchange;
  const id = /\/async-result\/([\w-]+)$/.exec(url.pathname)?.[1];
  if (id !== undefined && method === "GET") return tellTask(studio, authenticate(exchange, studio), id);
  if (method !== "POST") return undefined;
  if (url.pathname.endsWith("/images/generations")) {
    const background = url.pathname.endsWith("/async/images/generations");
    return makeImage(exchange, studio, authenticate(exchange, studio), background);
  }
  if (!url.pathname.endsWith("/videos/generations")) return undefined;
  return makeVideo(exchange, studio, authenticate(exchange, studio));
}

/** Z.ai's pictures and films. */
export const zAiMedia: MediaHost = (exchange, studio) => inWordsOf(inZhipuWords, () => answer(exchange, studio));
