import type { JsonObject } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { ERROR_WORDS } from "../../dialects/genai/answer/error-words.ts";
import type { DeliveredImage } from "../delivered-image.ts";
import type { ImageReply, ImageResult } from "../image-reply.ts";

/** The response of `:predict` (contract 2.5): one element for each requested image, generated or not. */
export function encodePredictions(reply: ImageReply<DeliveredImage>): JsonObject {
  return { predictions: reply.results.map(encodeResult) };
}

function encodeResult(result: ImageResult<DeliveredImage>): JsonObject {
  switch (result.kind) {
    case "made":
      return withoutAbsent({ ...encodeImage(result.image), prompt: result.revisedPrompt });
    case "filtered":
      return { raiFilteredReason: result.reason };
    case "failed": {
      // The contract has no field for it. Clients that do not know this one see an element without an image.
      const { kind, rule, message } = result.error;
      return { error: { code: rule.status, message, status: ERROR_WORDS[kind] } };
    }
  }
}

function encodeImage(image: DeliveredImage): JsonObject {
  const { mimeType } = image;
  return "url" in image ? { gcsUri: image.url, mimeType } : { bytesBase64Encoded: image.base64, mimeType };
}
