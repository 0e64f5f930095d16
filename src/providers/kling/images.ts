import { arrayAt, type JsonObject, stringAt } from "../../base/json.ts";
import type { AdapterContext, ImageAdapter } from "../../media/adapter.ts";
import type { FittedImageCall } from "../../media/image-call.ts";
import type { ImageCapabilities } from "../../media/image-capabilities.ts";
import type { UpstreamImageReply } from "../../media/image-reply.ts";
import { emptyAnswer } from "../media-adapters/media-failure.ts";
import { pickExtras } from "../media-adapters/pick-extras.ts";
import { readError } from "./errors.ts";
import { readTask, readTaskId } from "./tasks.ts";

const PATH = "/v1/images/generations";
const EXTRAS = ["image_reference", "image_fidelity", "human_fidelity"];

const CAPABILITIES: ImageCapabilities = {
  maxCount: 9,
  perCall: 9,
  takes: ["negativePrompt", "watermark"],
  onlyWithoutInputs: ["negativePrompt"],
  sizes: {
    kind: "ratio",
    ratios: ["1:1", "16:9", "9:16", "4:3", "3:4", "3:2", "2:3", "21:9"],
    tiers: ["1K", "2K"],
  },
  maxInputs: 1,
  mask: false,
  formats: ["image/png"],
  compresses: false,
  maxPrompt: 2500,
};

function bodyOf(call: FittedImageCall, { model, jobName }: AdapterContext): JsonObject {
  const { aspectRatio, negativePrompt, watermark } = call;
  const [image] = call.inputs;
  return {
    ...(image && pickExtras(call.extras, EXTRAS)),
    model_name: model,
    prompt: call.prompt,
    n: call.count,
    resolution: (call.tier ?? "1K").toLowerCase(),
    ...(aspectRatio !== undefined && { aspect_ratio: aspectRatio }),
    ...(image && { image: image.base64 }),
    ...(negativePrompt !== undefined && { negative_prompt: negativePrompt }),
    ...(watermark !== undefined && { watermark_info: { enabled: watermark } }),
    external_task_id: jobName,
  };
}

function readImages(result: JsonObject | undefined): UpstreamImageReply {
  const urls = arrayAt(result, "images").flatMap((image) => stringAt(image, "url") || []);
  if (urls.length === 0) throw emptyAnswer("an image");
  return { results: urls.map((url) => ({ kind: "made", image: { url } })) };
}

/** Kling's images. */
export const images: ImageAdapter = {
  serves: (model) => model.startsWith("kling-"),
  capabilities: () => CAPABILITIES,
  submit: (call, context) => ({ method: "POST", url: PATH, body: { json: bodyOf(call, context) } }),
  readSubmit: (answer) => ({ state: "waiting", job: { id: readTaskId(answer) } }),
  poll: (job) => ({ method: "GET", url: `${PATH}/${encodeURIComponent(stringAt(job, "id") ?? "")}` }),
  readPoll: (answer, job) => readTask(answer, job, readImages, (error) => ({ state: "failed", error })),
  error: readError,
};
