import type { Exchange } from "../../exchange.ts";
import type { Json } from "../../json.ts";
import type { MediaContext, MediaHost } from "../../media/media-host.ts";
import { withHostErrors } from "../../media/with-host-errors.ts";
import type { Refusal } from "../compatible/text/behaviour.ts";
import { authenticate } from "../openai/authenticate.ts";
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

const NUMBERS: Readonly<Record<number, string>> = {
  400: "1210",
  401: "1002",
  404: "1211",
  429: "1302",
  503: "1305",
};
const CONTENT_REFUSED = "1301";

/** This host counts its errors. */
function inZhipuWords({ status, message, code }: Refusal): Json {
  const number = code === "content_filter" ? CONTENT_REFUSED : (NUMBERS[status] ?? "500");
  return { error: { code: number, message } };
}
