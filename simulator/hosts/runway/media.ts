import { bearerOf } from "../../credentials.ts";
import type { Exchange } from "../../exchange.ts";
import { isJson } from "../../media/is-json.ts";
import type { MediaContext, MediaHost } from "../../media/media-host.ts";
import type { Endpoint } from "./read-task.ts";
import { refused } from "./refusals.ts";
import { endTask, showTask, startTask } from "./tasks.ts";

const VERSION = "2024-11-06";
const MAKES = /\/v1\/(image_to_video|text_to_video|video_to_video|text_to_image)$/;
const TASK = /\/v1\/tasks\/([\w-]+)$/;

function authenticate(exchange: Exchange, context: MediaContext): string {
  const key = bearerOf(exchange.headers);
  if (key === undefined || key === "" || !context.acceptsKey(key))
    throw refused(401, "You did not provide a valid API key.");
  const version = exchange.headers.get("x-runway-version");
  if (version !== VERSION) {
    throw refused(400, `The header X-Runway-Version must be ${VERSION}, not ${version ?? "missing"}.`);
  }
  return key;
}

/** Runway: videos and images, all of them as tasks. */
export const runwayMedia: MediaHost = async (exchange, context) => {
  const endpoint = MAKES.exec(exchange.url.pathname)?.[1] as Endpoint | undefined;
  const id = TASK.exec(exchange.url.pathname)?.[1];
  if (endpoint !== undefined && exchange.method === "POST") {
    const key = authenticate(exchange, context);
    if (!isJson(exchange.headers)) throw refused(415, "The content type must be application/json.");
    return startTask(exchange, context, endpoint, key);
  }
  if (id === undefined) return undefined;
  if (exchange.method === "GET") return showTask(context, id, authenticate(exchange, context));
  if (exchange.method === "DELETE") return endTask(context, id, authenticate(exchange, context));
  return undefined;
};
