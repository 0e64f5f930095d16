import { arrayAt, isObject, type JsonObject, stringAt } from "../../base/json.ts";
import type { AdapterContext, VideoAdapter } from "../../media/adapter.ts";
import type { FittedVideoCall, VideoCapabilities } from "../../media/video-call.ts";
import type { VideoReply } from "../../media/video-reply.ts";
import { failedVideo } from "../media-adapters/failed-job.ts";
import { emptyAnswer } from "../media-adapters/media-failure.ts";
import { pickExtras } from "../media-adapters/pick-extras.ts";
import { readError } from "./errors.ts";
import { readTask, readTaskId } from "./tasks.ts";

const EXTRAS = ["cfg_scale", "camera_control", "watermark_info"];

/** There is no field for the resolution: two modes differ in it. */
const MODES: Readonly<Record<string, string>> = { "720p": "std", "1080p": "pro" };

const SILENT: VideoCapabilities = {
  perJob: 1,
  takes: ["negativePrompt"],
  ratios: ["16:9", "9:16", "1:1"],
  shapedByImage: true,
  resolutions: ["1080p", "720p"],
  seconds: [5, 10],
  defaultSeconds: 5,
  audio: "never",
  image: true,
  lastFrame: true,
  maxPrompt: 2500,
};

const V2_6: VideoCapabilities = { ...SILENT, audio: "chosen", defaultAudio: false };
const V3: VideoCapabilities = { ...V2_6, seconds: { min: 3, max: 15 }, resolutions: ["720p", "1080p"] };

function capabilities(model: string): VideoCapabilities {
  if (/^kling-v(1|2$|2-([1-5]|master|new))/.test(model)) return SILENT;
  return model.startsWith("kling-v2") ? V2_6 : V3;
}

const pathOf = ({ image, lastFrame }: FittedVideoCall): string =>
  `/v1/videos/${image || lastFrame ? "image2video" : "text2video"}`;

function bodyOf(call: FittedVideoCall, { model, jobName }: AdapterContext): JsonObject {
  const { prompt, negativePrompt, aspectRatio, image, lastFrame } = call;
  const mode = MODES[call.resolution];
  return {
    watermark_info: { enabled: false },
    ...pickExtras(call.extras, EXTRAS),
    model_name: model,
    ...(prompt && { prompt }),
    ...(negativePrompt !== undefined && { negative_prompt: negativePrompt }),
    ...(mode !== undefined && { mode }),
    duration: String(call.seconds),
    ...(capabilities(model).audio === "chosen" && { sound: call.audio ? "on" : "off" }),
    ...(image && { image: image.base64 }),
    ...(lastFrame && { image_tail: lastFrame.base64 }),
    ...(aspectRatio !== undefined && { aspect_ratio: aspectRatio }),
    external_task_id: jobName,
  };
}

function readVideos(result: JsonObject | undefined): VideoReply {
  const videos = arrayAt(result, "videos").filter(isObject);
  const urls = videos.flatMap((video) => stringAt(video, "url") || []);
  if (urls.length === 0) throw emptyAnswer("a video");
  const seconds = Number(stringAt(videos[0], "duration") ?? Number.NaN);
  return {
    videos: urls.map((url) => ({ url, mimeType: "video/mp4" })),
    filtered: [],
    ...(seconds > 0 && { seconds }),
  };
}

/** Kling's videos. */
export const videos: VideoAdapter = {
  serves: (model) => model.startsWith("kling-"),
  capabilities,
  submit: (call, context) => ({ method: "POST", url: pathOf(call), body: { json: bodyOf(call, context) } }),
  // A task is polled at the path that it was submitted to.
  readSubmit: (answer, call) => ({ state: "waiting", job: { id: readTaskId(answer), path: pathOf(call) } }),
  poll: (job) => ({
    method: "GET",
    url: `${stringAt(job, "path") ?? ""}/${encodeURIComponent(stringAt(job, "id") ?? "")}`,
  }),
  readPoll: (answer, job) => readTask(answer, job, readVideos, failedVideo),
  error: readError,
};
