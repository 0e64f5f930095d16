// https://docs.x.ai/docs/api-reference

import { arrayAt, isObject, type JsonObject, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { ImageAdapter, JobState, MediaAnswer } from "../../media/adapter.ts";
import type { InlineImage, MediaLink } from "../../media/image.ts";
import type { FittedImageCall } from "../../media/image-call.ts";
import type { ImageCapabilities } from "../../media/image-capabilities.ts";
import type { ImageResult, UpstreamImageReply } from "../../media/image-reply.ts";
import { dataUrl } from "../media-adapters/data-url.ts";
import { imageType } from "../media-adapters/image-type.ts";
import { emptyAnswer } from "../media-adapters/media-failure.ts";
import { pickExtras } from "../media-adapters/pick-extras.ts";
import { xAiError } from "./errors.ts";

const IMAGINE: ImageCapabilities = {
  maxCount: 10,
  perCall: 10,
  takes: [],
  sizes: {
    kind: "ratio",
    ratios: ["1:1", "16:9", "9:16", "4:3", "3:4", "3:2", "2:3", "2:1", "1:2"],
    tiers: ["1K", "2K"],
  },
  maxInputs: 3,
  mask: false,
  formats: ["image/jpeg"],
  compresses: false,
};

/** Only the second version has a choice of quality. */
const takesQuality = (model: string) => model.startsWith("grok-imagine-image-2");

/** Generations and edits, both as JSON. The host refuses a size in pixels. */
export const xAiImages: ImageAdapter = {
  serves: (model) => /^grok-(?:imagine-image|2-image)/.test(model),
  capabilities: (model) =>
    takesQuality(model) ? { ...IMAGINE, takes: ["quality"], qualities: ["auto", "low", "medium"] } : IMAGINE,
  submit: (call, { model }) => ({
    method: "POST",
    url: call.inputs.length === 0 ? "/images/generations" : "/images/edits",
    body: { json: bodyOf(call, model) },
  }),
  readSubmit,
  error: xAiError,
};

function bodyOf(call: FittedImageCall, model: string): JsonObject {
  const [first, ...others] = call.inputs.map((image) => ({ url: dataUrl(image), type: "image_url" }));
  return {
    ...pickExtras(call.extras, ["user"]),
    model,
    prompt: call.prompt,
    ...(first === undefined ? {} : others.length === 0 ? { image: first } : { images: [first, ...others] }),
    n: call.count,
    ...withoutAbsent({ aspect_ratio: call.aspectRatio }),
    resolution: (call.tier ?? "1K").toLowerCase(),
    ...(takesQuality(model) ? { quality: call.quality ?? "medium" } : {}),
    response_format: "b64_json",
  };
}

/** The host may answer 200 with an error in the body. */
function readSubmit(answer: MediaAnswer): JobState<UpstreamImageReply> {
  const results = arrayAt(answer.body, "data").flatMap(readResult);
  if (results.length > 0) return { state: "done", reply: { results } };
  throw answer.body?.["error"] == null ? emptyAnswer("images") : xAiError(answer);
}

function readResult(item: unknown): ImageResult<InlineImage | MediaLink>[] {
  if (!isObject(item)) return [];
  if (item["respect_moderation"] === false) {
    return [{ kind: "filtered", reason: "The provider's moderation blocked the image." }];
  }
  const base64 = stringAt(item, "b64_json");
  const url = stringAt(item, "url");
  const mimeType = stringAt(item, "mime_type");
  const revised = stringAt(item, "revised_prompt");
  const made = (image: InlineImage | MediaLink): ImageResult<InlineImage | MediaLink>[] => [
    { kind: "made", image, ...(revised ? { revisedPrompt: revised } : {}) },
  ];
  if (base64) return made({ mimeType: imageType(base64, mimeType ?? "image/jpeg"), base64 });
  return url ? made({ url, ...withoutAbsent({ mimeType }) }) : [];
}
