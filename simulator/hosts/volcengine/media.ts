import { bearerOf } from "../../credentials.ts";
import type { MediaHost } from "../../media/media-host.ts";
import { arkError } from "./errors.ts";
import { generateImages } from "./images/images.ts";
import { createTask, showTask, withdrawTask } from "./videos/tasks.ts";

const IMAGES = /\/images\/generations$/;
const TASKS = /\/contents\/generations\/tasks(?:\/([^/]+))?$/;

/** Volcengine Ark: images of Seedream while you wait, videos of Seedance as tasks. */
export const volcengineMedia: MediaHost = async (exchange, context) => {
  const { pathname } = exchange.url;
  const tasks = TASKS.exec(pathname);
  if (tasks === null && !IMAGES.test(pathname)) return undefined;

  const key = bearerOf(exchange.headers) ?? "";
  if (!context.acceptsKey(key)) {
    throw arkError(401, "AuthenticationError", "The API key in the request is missing or invalid.");
  }
  const id = tasks?.[1];
  if (tasks === null && exchange.method === "POST") return generateImages(exchange, context, key);
  if (tasks !== null && id === undefined && exchange.method === "POST") return createTask(exchange, context, key);
  if (id !== undefined && exchange.method === "GET") return showTask(context, key, id);
  if (id !== undefined && exchange.method === "DELETE") return withdrawTask(context, key, id);
  throw arkError(404, "InvalidAction", `${exchange.method} ${pathname} is not an API of this service.`);
};
