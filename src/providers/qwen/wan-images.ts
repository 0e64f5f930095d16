// https://www.alibabacloud.com/help/en/model-studio/qwen-image-api

import { arrayAt, isObject, type JsonObject, stringAt } from "../../base/json.ts";
import type { AdapterContext, ImageAdapter, JobState, MediaRequest } from "../../media/adapter.ts";
import type { MediaLink } from "../../media/image.ts";
import type { FittedImageCall } from "../../media/image-call.ts";
import type { FreeSizes, ImageCapabilities } from "../../media/image-capabilities.ts";
import type { ImageResult, UpstreamImageReply } from "../../media/image-reply.ts";
import { dataUrl } from "../media-adapters/data-url.ts";
import { failedImage } from "../media-adapters/failed-job.ts";
import { emptyAnswer } from "../media-adapters/media-failure.ts";
import { readError, readFailure } from "./errors.ts";
import { messagesBody, parametersOf, readChoices, readUsage, SEEDS } from "./image-messages.ts";
import { pollTask, readSubmittedTask, readTask, submitTask } from "./tasks.ts";
import { wanVersion } from "./wan-version.ts";

const STANDARD = { width: 1024, height: 1024 };

const sizes = (minPixels: number, side: number): FreeSizes => ({
  multipleOf: 16,
  minSide: 272,
  maxSide: side * 2,
  minPixels,
  maxPixels: side * side,
  maxRatio: 8,
});

const V2_7: ImageCapabilities = {
  maxCount: 4,
  perCall: 4,
  takes: ["seed", "watermark", "enhancePrompt"],
  seeds: SEEDS,
  sizes: { kind: "free", free: sizes(768 * 768, 2048), tiers: ["1K", "2K"], standard: STANDARD },
  maxInputs: 9,
  mask: false,
  formats: ["image/png"],
  compresses: false,
};

const V2_7_PRO: ImageCapabilities = {
  ...V2_7,
  sizes: { kind: "free", free: sizes(768 * 768, 4096), tiers: ["1K", "2K", "4K"], standard: STANDARD },
  // The largest sizes are for images from text alone.
  sizesWithInputs: V2_7.sizes,
};

const OLDER: ImageCapabilities = {
  ...V2_7,
  takes: ["negativePrompt", "seed", "watermark", "enhancePrompt"],
  sizes: {
    kind: "free",
    free: { multipleOf: 16, minSide: 512, maxSide: 1440, maxRatio: 2.8 },
    tiers: ["1K"],
    standard: STANDARD,
  },
};

const readsMessages = (model: string): boolean => wanVersion(model) >= 2.6;
const edits = (model: string): boolean => /-i2i/.test(model);

function capabilities(model: string): ImageCapabilities {
  if (/image-pro/.test(model)) return V2_7_PRO;
  if (readsMessages(model)) return V2_7;
  return edits(model) ? { ...OLDER, maxInputs: 3, imageOnly: true } : { ...OLDER, maxInputs: 0 };
}

function submit(call: FittedImageCall, context: AdapterContext): MediaRequest {
  const { model } = context;
  if (readsMessages(model)) return submitTask("image-generation/generation", messagesBody(call, context));
  const { negative_prompt, ...parameters } = parametersOf(call);
  const input = { prompt: call.prompt, ...(negative_prompt !== undefined && { negative_prompt }) };
  return edits(model)
    ? submitTask("image2image/image-synthesis", {
        model,
        input: { ...input, images: call.inputs.map(dataUrl) },
        parameters,
      })
    : submitTask("text2image/image-synthesis", { model, input, parameters });
}

/** An item of `output.results`: an image, or why it is not there. */
function readResult(item: JsonObject): ImageResult<MediaLink> {
  const url = stringAt(item, "url");
  if (!url) return failedImage(readFailure(item));
  const revisedPrompt = stringAt(item, "actual_prompt");
  return { kind: "made", image: { url }, ...(revisedPrompt && { revisedPrompt }) };
}

function finish(body: JsonObject, output: JsonObject): JobState<UpstreamImageReply> {
  const results = [...arrayAt(output, "results").filter(isObject).map(readResult), ...readChoices(output)];
  if (results.length === 0) throw emptyAnswer("an image");
  const usage = readUsage(body);
  return { state: "done", reply: { results, ...(usage && { usage }) } };
}

/** Wan's images, which are made by tasks. */
export const wanImages: ImageAdapter = {
  serves: (model) => /^wanx?\d.*-(image|t2i|i2i)/.test(model),
  capabilities,
  submit,
  readSubmit: readSubmittedTask,
  poll: pollTask,
  readPoll: (answer, job) => readTask(answer, job, finish, (error) => ({ state: "failed", error })),
  error: readError,
};
