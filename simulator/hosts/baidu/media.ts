import type { MediaHost } from "../../media/media-host.ts";
import { withHostErrors } from "../../media/with-host-errors.ts";
import { authenticate } from "../openai/authenticate.ts";
import { inQianfanWords } from "./errors.ts";
import { makeImages } from "./images/images.ts";
import { SERVICES } from "./images/services.ts";

/** Baidu Qianfan's images. */
export const baiduMedia: MediaHost = async (exchange, context) => {
  const service = SERVICES.find(({ path }) => exchange.url.pathname.endsWith(path));
  if (service === undefined || exchange.method !== "POST") return undefined;
  return withHostErrors(inQianfanWords, () => makeImages(exchange, context, authenticate(exchange, context), service));
};
