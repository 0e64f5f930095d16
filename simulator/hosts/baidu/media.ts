import type { MediaHost } from "../../media/host.ts";
import { inWordsOf } from "../../media/in-words-of.ts";
import { authenticate } from "../openai/authenticate.ts";
import { inQianfanWords } from "./errors.ts";
import { makeImages } from "./images/images.ts";
import { SERVICES } from "./images/services.ts";

/** Baidu Qianfan's pictures. */
export const baiduMedia: MediaHost = async (exchange, studio) => {
  const service = SERVICES.find(({ path }) => exchange.url.pathname.endsWith(path));
  if (service === undefined || exchange.method !== "POST") return undefined;
  return inWordsOf(inQianfanWords, () => makeImages(exchange, studio, authenticate(exchange, studio), service));
};
