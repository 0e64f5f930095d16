import type { JsonObject } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { VideoAdapter } from "../../media/adapter.ts";
import type { FittedVideoCall, VideoCapabilities } from "../../media/video-call.ts";
import { dataUrl } from "../media-adapters/data-url.ts";
import { failedVideo } from "../media-adapters/failed-job.ts";
import { pickExtras } from "../media-adapters/pick-extras.ts";
import { runwayError } from "./errors.ts";
import { pollTask, readTask, readTaskId, SEEDS, submitTask, TASK_POLL_MS } from "./task.ts";

/** Shape and resolution are one value there. */
const RATIO: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "720p": {
    "16:9": "1280:720",
    "9:16": "720:1280",
    "4:3": "1104:832",
    "3:4": "832:1104",
    "1:1": "960:960",
    "21:9": "1584:672",
  },
  "1080p": { "16:9": "1920:1080", "9:16": "1080:1920" },
};

const GEN: VideoCapabilities = {
  perJob: 1,
  takes: ["seed"],
  seeds: SEEDS,
  ratios: ["16:9", "9:16"],
  resolutions: ["720p"],
  seconds: { min: 2, max: 10 },
  defaultSeconds: 5,
  audio: "never",
  image: true,
  lastFrame: false,
  maxPrompt: 1000,
};

const GEN4_TURBO: VideoCapabilities = { ...GEN, ratios: Object.keys(RATIO["720p"] ?? {}), imageOnly: true };

const VEO3: VideoCapabilities = {
  ...GEN,
  takes: [],
  resolutions: ["720p", "1080p"],
  seconds: [8],
  defaultSeconds: 8,
  audio: "always",
};

const VEO3_1: VideoCapabilities = {
  ...VEO3,
  seconds: [4, 6, 8],
  audio: "chosen",
  defaultAudio: false,
  lastFrame: true,
};

function capabilities(model: string): VideoCapabilities {
  if (model.startsWith("veo3.1")) return VEO3_1;
  if (model.startsWith("veo")) return VEO3;
  return model === "gen4_turbo" ? GEN4_TURBO : GEN;
}

export const videos: VideoAdapter = {
  serves: (model) => /^(?:gen\d|veo)/.test(model) && !model.includes("image"),
  capabilities,
  submit: (call, { model }) =>
    submitTask(call.image === undefined ? "/text_to_video" : "/image_to_video", {
      ...(model.startsWith("gen") ? pickExtras(call.extras, ["contentModeration"]) : {}),
      model,
      ...withoutAbsent({ promptText: call.prompt }),
      ...promptImage(call),
      ratio: ratioOf(call),
      duration: call.seconds,
      ...(capabilities(model).audio === "chosen" ? { audio: call.audio } : {}),
      ...withoutAbsent({ seed: call.seed }),
    }),
  readSubmit: readTaskId,
  poll: pollTask,
  readPoll: (answer, job) =>
    readTask(
      answer,
      job,
      (urls) => ({ videos: urls.map((url) => ({ url, mimeType: "video/mp4" })), filtered: [] }),
      failedVideo,
    ),
  error: runwayError,
  pollIntervalMs: TASK_POLL_MS,
};

const ratioOf = ({ resolution, aspectRatio = "16:9" }: FittedVideoCall): string =>
  RATIO[resolution]?.[aspectRatio] ?? "1280:720";

function promptImage({ image, lastFrame }: FittedVideoCall): JsonObject {
  if (image === undefined) return {};
  if (lastFrame === undefined) return { promptImage: dataUrl(image) };
  return {
    promptImage: [
      { uri: dataUrl(image), position: "first" },
      { uri: dataUrl(lastFrame), position: "last" },
    ],
  };
}
