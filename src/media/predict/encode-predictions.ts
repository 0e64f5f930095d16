import type { JsonObject } from "../../base/json.ts";
import { ERROR_WORDS } from "../../dialects/genai/error-words.ts";
import type { GivenPicture } from "../given-picture.ts";
import type { ImageReply, ImageResult } from "../image-reply.ts";

/** The answer of `:predict` (contract 2.5): one element for each picture that was asked for, made or not. */
export function encodePredictions(reply: ImageReply<GivenPicture>): JsonObject {
  return { predictions: reply.results.map(encodeResult) };
}

function encodeResult(result: ImageResult<GivenPicture>): JsonObject {
  switch (result.kind) {
    case "made":
      return {
        ...encodePicture(result.picture),
        ...(result.revisedPrompt === undefined ? {} : { prompt: result.revisedPrompt }),
      };
    case "filtered":
      return { raiFilteredReason: result.reason };
    case "failed": {
      // The contract has no field for it. Readers that know none either see an element without a picture.
      const { kind, rule, message } = result.error;
      return { error: { code: rule.status, message, status: ERROR_WORDS[kind] } };
    }
  }
}

function encodePicture(picture: GivenPicture): JsonObject {
  const { mimeType } = picture;
  return "url" in picture ? { gcsUri: picture.url, mimeType } : { bytesBase64Encoded: picture.base64, mimeType };
}
