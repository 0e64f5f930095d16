import { bearerOf } from "../../credentials.ts";
import type { JsonObject } from "../../json.ts";
import type { MediaHost } from "../../media/media-host.ts";
import { dashscopeError } from "./errors.ts";
import { generateImages } from "./images/images.ts";
import { type ImagesRequest, readImages } from "./images/read-images.ts";
import { cancelTask, createTask, showTask } from "./tasks.ts";
import { readVideo, type VideoRequest } from "./videos/read-video.ts";

const SERVICE = /\/services\/aigc\/([\w-]+\/[\w-]+)$/;
const TASK = /\/tasks\/([^/]+?)(\/cancel)?$/;

/** What is asked for at each URL that takes tasks. */
const TASK_READERS: Readonly<Record<string, (body: JsonObject) => ImagesRequest | VideoRequest>> = {
  "image-generation/generation": (body) => readImages(body, "messages task"),
  "text2image/image-synthesis": (body) => readImages(body, "text task"),
  "image2image/image-synthesis": (body) => readImages(body, "images task"),
  "video-generation/video-synthesis": readVideo,
  "image2video/video-synthesis": readVideo,
};

/** Alibaba's DashScope: images while you wait, and images and videos as tasks. */
export const qwenMedia: MediaHost = async (exchange, context) => {
  const { pathname } = exchange.url;
  const service = SERVICE.exec(pathname)?.[1];
  const task = TASK.exec(pathname);
  if (service === undefined && task === null) return undefined;

  const key = bearerOf(exchange.headers) ?? "";
  if (!context.acceptsKey(key)) throw dashscopeError(401, "InvalidApiKey", "Invalid API-key provided.");
  if (exchange.method === "POST" && service !== undefined) {
    if (service === "multimodal-generation/generation") return generateImages(exchange, context, key);
    const read = Object.hasOwn(TASK_READERS, service) ? TASK_READERS[service] : undefined;
    if (read !== undefined) return createTask(exchange, context, key, read);
  }
  const [, id, cancel] = task ?? [];
  if (id !== undefined && exchange.method === "GET" && cancel === undefined) return showTask(context, key, id);
  if (id !== undefined && exchange.method === "POST" && cancel !== undefined) return cancelTask(context, key, id);
  throw dashscopeError(404, "InvalidURL", "url error, please check url!");
};
