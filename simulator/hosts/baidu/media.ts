import type { Json } from "../../json.ts";
import type { MediaHost } from "../../media/media-host.ts";
import { withHostErrors } from "../../media/with-host-errors.ts";
import type { Refusal } from "../compatible/text/behaviour.ts";
import { authenticate } from "../openai/authenticate.ts";
import { makeImages } from "./images/images.ts";
import { SERVICES } from "./images/services.ts";

/** Baidu Qianfan's images. */
export const baiduMedia: MediaHost = async (exchange, context) => {
  const service = SERVICES.find(({ path }) => exchange.url.pathname.endsWith(path));
  if (service === undefined || exchange.method !== "POST") return undefined;
  return withHostErrors(inQianfanWords, () => makeImages(exchange, context, authenticate(exchange, context), service));
};

const CODES: Readonly<Record<number, string>> = {
  400: "invalid_argument",
  401: "invalid_iam_token",
  404: "invalid_model",
  429: "rpm_rate_limit_exceeded",
  500: "internal_error",
  503: "server_overloaded",
};
const TYPES: Readonly<Record<number, string>> = {
  401: "access_denied",
  429: "rate_limit_exceeded",
  500: "internal_error",
  503: "internal_error",
};

function inQianfanWords({ status, message, code }: Refusal): Json {
  const own = code === "content_filter" ? "content_filter" : (CODES[status] ?? "internal_error");
  const type = TYPES[status] ?? "invalid_request_error";
  return { error: { code: own, message, type }, id: `as-${crypto.randomUUID().replaceAll("-", "").slice(0, 10)}` };
}
