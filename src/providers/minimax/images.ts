// https://platform.minimax.io/docs/api-reference/api-overview

import { arrayAt, numberAt, objectAt, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { ImageAdapter, JobState, MediaAnswer } from "../../media/adapter.ts";
import type { InlineImage } from "../../media/image.ts";
import type { FittedImageCall } from "../../media/image-call.ts";
import type { ImageCapabilities } from "../../media/image-capabilities.ts";
import type { ImageResult, UpstreamImageReply } from "../../media/image-reply.ts";
import { dataUrl } from "../media-adapters/data-url.ts";
import { imageType } from "../media-adapters/image-type.ts";
import { emptyAnswer } from "../media-adapters/media-failure.ts";
import { pickExtras } from "../media-adapters/pick-extras.ts";
import { failureInside, minimaxError } from "./errors.ts";

const FILTERED = "The provider's moderation blocked this image.";

const CAPABILITIES: ImageCapabilities = {
  maxCount: 9,
  perCall: 9,
  takes: ["seed", "enhancePrompt", "watermark"],
  // Each image of a call gets the next seed.
  seeds: { min: 0, max: Number.MAX_SAFE_INTEGER - 9 },
  sizes: {
    kind: "free",
    free: { multipleOf: 8, minSide: 512, maxSide: 2048, maxRatio: 4 },
    tiers: ["1K", "2K"],
    standard: { width: 1024, height: 1024 },
  },
  maxInputs: 1,
  mask: false,
  formats: ["image/jpeg"],
  compresses: false,
  maxPrompt: 1500,
};

/** The variant for drawings takes shapes only. */
const LIVE: ImageCapabilities = {
  ...CAPABILITIES,
  sizes: { kind: "ratio", ratios: ["1:1", "16:9", "4:3", "3:2", "2:3", "3:4", "9:16"], tiers: [] },
};

export const images: ImageAdapter = {
  serves: (model) => model.startsWith("image-01"),
  capabilities: (model) => (model.endsWith("-live") ? LIVE : CAPABILITIES),
  submit: (call, { model }) => ({
    method: "POST",
    url: "/v1/image_generation",
    body: {
      json: {
        ...pickExtras(call.extras, ["style"]),
        model,
        prompt: call.prompt,
        response_format: "base64",
        n: call.count,
        ...(call.pixels ?? (call.aspectRatio === undefined ? {} : { aspect_ratio: call.aspectRatio })),
        ...withoutAbsent({ seed: call.seed }),
        prompt_optimizer: call.enhancePrompt ?? false,
        aigc_watermark: call.watermark ?? false,
        ...(call.inputs.length === 0 ? {} : { subject_reference: call.inputs.map(subject) }),
      },
    },
  }),
  readSubmit,
  error: minimaxError,
};

const subject = (input: InlineImage) => ({ type: "character", image_file: dataUrl(input) });

function readSubmit(answer: MediaAnswer, call: FittedImageCall): JobState<UpstreamImageReply> {
  const failure = failureInside(answer);
  if (failure) throw failure;
  const data = objectAt(answer.body, "data");
  const made = arrayAt(data, "image_base64")
    .filter((base64) => typeof base64 === "string")
    .map((base64): ImageResult<InlineImage> => {
      return { kind: "made", image: { mimeType: imageType(base64, "image/jpeg"), base64 } };
    });
  const held = Math.min(call.count - made.length, heldBack(answer));
  if (made.length + held <= 0) throw emptyAnswer("an image");
  const filtered = Array.from({ length: Math.max(0, held) }, (): ImageResult<InlineImage> => {
    return { kind: "filtered", reason: FILTERED };
  });
  return { state: "done", reply: { results: [...made, ...filtered], usage: { images: made.length } } };
}

/** The counts in the metadata are strings. */
function heldBack({ body }: MediaAnswer): number {
  const metadata = objectAt(body, "metadata");
  return numberAt(metadata, "failed_count") ?? (Number(stringAt(metadata, "failed_count")) || 0);
}
