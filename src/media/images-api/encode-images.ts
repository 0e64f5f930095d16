import type { JsonObject } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { ERROR_WORDS } from "../../dialects/chat/answer/error-words.ts";
import type { DeliveredImage } from "../delivered-image.ts";
import type { ImageReply, ImageResult } from "../image-reply.ts";
import type { ImageRequest } from "../image-request.ts";
import { encodeSettings } from "./settings.ts";
import { encodeImageUsage } from "./usage.ts";

type Made = Extract<ImageResult<DeliveredImage>, { kind: "made" }>;

/** The response without a stream (choices 5) to a request as sent to the model. Failed images are listed in `errors`. */
export function encodeImages(
  reply: ImageReply<DeliveredImage>,
  request: ImageRequest,
  createdSeconds: number,
): JsonObject {
  const data: JsonObject[] = [];
  const errors: JsonObject[] = [];
  let mimeType: string | undefined;
  for (const [index, result] of reply.results.entries()) {
    if (result.kind === "made") {
      mimeType ??= result.image.mimeType;
      data.push(encodeImage(result));
    } else errors.push({ index, ...encodeProblem(result) });
  }
  const usage = encodeImageUsage(reply.usage);
  return withoutAbsent({
    created: createdSeconds,
    data,
    ...knownSettings(encodeSettings(request, reply.settings, mimeType)),
    usage,
    ...(errors.length === 0 ? {} : { errors }),
  });
}

/** The vendor's response reports chosen values, but has no word for a choice that was left to the model. */
const knownSettings = (settings: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== "auto"));

function encodeImage({ image, revisedPrompt }: Made): JsonObject {
  return withoutAbsent({
    ...("url" in image ? { url: image.url } : { b64_json: image.base64 }),
    revised_prompt: revisedPrompt,
  });
}

function encodeProblem(result: Exclude<ImageResult<DeliveredImage>, Made>): JsonObject {
  if (result.kind === "filtered") return { code: ERROR_WORDS.content_blocked.code, message: result.reason };
  const { code, kind, message } = result.error;
  return { code: code ?? ERROR_WORDS[kind].code ?? kind, message };
}
