// https://docs.z.ai/api-reference/image/generate-image

import { arrayAt, type JsonObject, stringAt } from "../../base/json.ts";
import type { AdapterContext, ImageAdapter, JobState, MediaAnswer } from "../../media/adapter.ts";
import type { InlineImage, MediaLink } from "../../media/image.ts";
import type { FittedImageCall } from "../../media/image-call.ts";
import type { ImageCapabilities } from "../../media/image-capabilities.ts";
import type { ImageResult, UpstreamImageReply } from "../../media/image-reply.ts";
import { emptyAnswer, mediaFailure } from "../media-adapters/media-failure.ts";
import { pickExtras } from "../media-adapters/pick-extras.ts";
import { Z_AI_CODES } from "./errors.ts";

const sizes = (list: string) =>
  list.split(" ").map((text) => {
    const [width = 0, height = 0] = text.split("x").map(Number);
    return { width, height };
  });

const GLM_IMAGE: ImageCapabilities = {
  maxCount: 1,
  perCall: 1,
  takes: ["watermark"],
  sizes: {
    kind: "presets",
    // Those that the host recommends, and the two squares that clients ask for most.
    sizes: sizes("1280x1280 1568x1056 1056x1568 1472x1088 1088x1472 1728x960 960x1728 1024x1024 2048x2048"),
  },
  maxInputs: 0,
  mask: false,
  formats: ["image/png"],
  compresses: false,
};

const COGVIEW: ImageCapabilities = {
  ...GLM_IMAGE,
  takes: ["watermark", "quality"],
  qualities: ["standard", "hd"],
  sizes: {
    kind: "presets",
    sizes: sizes("1024x1024 768x1344 864x1152 1344x768 1152x864 1440x720 720x1440"),
  },
};

/** One image per call, as a link. */
export const zAiImages: ImageAdapter = {
  serves: (model) => /^(?:glm-image|cogview)/.test(model),
  capabilities: (model) => (model.startsWith("cogview") ? COGVIEW : GLM_IMAGE),
  submit: (call, context) => ({ method: "POST", url: "/images/generations", body: { json: bodyOf(call, context) } }),
  readSubmit,
  error: (answer) => mediaFailure(answer, Z_AI_CODES),
};

function bodyOf(call: FittedImageCall, { model, jobName }: AdapterContext): JsonObject {
  const { pixels, quality } = call;
  return {
    ...pickExtras(call.extras, ["user_id"]),
    model,
    prompt: call.prompt,
    ...(pixels === undefined ? {} : { size: `${pixels.width}x${pixels.height}` }),
    ...(quality === undefined ? {} : { quality }),
    // Only accounts with a contract may leave it out, so that the host's default is sent where the client asks for nothing.
    watermark_enabled: call.watermark ?? true,
    request_id: jobName,
  };
}

function readSubmit(answer: MediaAnswer): JobState<UpstreamImageReply> {
  const { body } = answer;
  const results = arrayAt(body, "data").flatMap((item): ImageResult<InlineImage | MediaLink>[] => {
    const url = stringAt(item, "url");
    return url ? [{ kind: "made", image: { url } }] : [];
  });
  if (results.length > 0) return { state: "done", reply: { results } };
  if (body?.["error"] != null) throw mediaFailure(answer, Z_AI_CODES);
  // Every answer has the levels of the content filter; without an image they are the reason.
  if (arrayAt(body, "content_filter").length === 0) throw emptyAnswer("an image");
  const reason = "The provider's content filter blocked the image.";
  return { state: "done", reply: { results: [{ kind: "filtered", reason }] } };
}
