import { withoutAbsent } from "../../base/without-absent.ts";
import type { ImageAdapter } from "../../media/adapter.ts";
import type { PixelSize } from "../../media/image.ts";
import type { UpstreamImageReply } from "../../media/image-reply.ts";
import { dataUrl } from "../media-adapters/data-url.ts";
import { failedImage } from "../media-adapters/failed-job.ts";
import { pickExtras } from "../media-adapters/pick-extras.ts";
import { runwayError } from "./errors.ts";
import { pollTask, readTask, readTaskId, SEEDS, submitTask, TASK_POLL_MS } from "./task.ts";

const SIZES: readonly PixelSize[] = [
  { width: 1024, height: 1024 },
  { width: 1080, height: 1080 },
  { width: 1168, height: 880 },
  { width: 1360, height: 768 },
  { width: 1440, height: 1080 },
  { width: 1080, height: 1440 },
  { width: 1808, height: 768 },
  { width: 1920, height: 1080 },
  { width: 1080, height: 1920 },
  { width: 2112, height: 912 },
  { width: 1280, height: 720 },
  { width: 720, height: 1280 },
  { width: 720, height: 720 },
  { width: 960, height: 720 },
  { width: 720, height: 960 },
  { width: 1680, height: 720 },
];

/** The turbo variant needs an input image. */
const needsImage = (model: string): boolean => model === "gen4_image_turbo";

export const images: ImageAdapter = {
  serves: (model) => model.startsWith("gen4_image"),
  capabilities: (model) => ({
    maxCount: 4,
    perCall: 1,
    takes: ["seed"],
    seeds: SEEDS,
    sizes: { kind: "presets", sizes: SIZES },
    maxInputs: 3,
    ...(needsImage(model) && { imageOnly: true }),
    mask: false,
    formats: ["image/png"],
    compresses: false,
    maxPrompt: 1000,
  }),
  submit: (call, { model }) => {
    const { width, height } = call.pixels ?? { width: 1024, height: 1024 };
    return submitTask("/text_to_image", {
      ...pickExtras(call.extras, ["contentModeration"]),
      model,
      promptText: call.prompt,
      ratio: `${width}:${height}`,
      ...withoutAbsent({ seed: call.seed }),
      ...(call.inputs.length === 0 ? {} : { referenceImages: call.inputs.map((input) => ({ uri: dataUrl(input) })) }),
    });
  },
  readSubmit: readTaskId,
  poll: pollTask,
  readPoll: (answer, job) =>
    readTask<UpstreamImageReply>(
      answer,
      job,
      (urls) => ({ results: urls.map((url) => ({ kind: "made", image: { url } })), usage: { images: urls.length } }),
      (error) =>
        error.kind === "content_blocked"
          ? { state: "done", reply: { results: [failedImage(error)], usage: { images: 0 } } }
          : { state: "failed", error },
    ),
  error: runwayError,
  pollIntervalMs: TASK_POLL_MS,
};
