// https://www.alibabacloud.com/help/en/model-studio/text-to-video-api-reference

import { type JsonObject, numberAt, objectAt, stringAt } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import type { AdapterContext, JobState, MediaRequest, VideoAdapter } from "../../media/adapter.ts";
import type { FittedVideoCall, VideoCapabilities } from "../../media/video-call.ts";
import type { VideoReply } from "../../media/video-reply.ts";
import { dataUrl } from "../media-adapters/data-url.ts";
import { failedVideo } from "../media-adapters/failed-job.ts";
import { emptyAnswer } from "../media-adapters/media-failure.ts";
import { pickExtras } from "../media-adapters/pick-extras.ts";
import { readError } from "./errors.ts";
import { SEEDS } from "./image-messages.ts";
import { pollTask, readSubmittedTask, readTask, submitTask } from "./tasks.ts";
import { wanVersion } from "./wan-version.ts";

const EXTRAS = ["shot_type", "watermark"];
const RATIOS = ["16:9", "9:16", "1:1", "4:3", "3:4"];

/** Up to version 2.6, videos from text take pixels. */
const PIXELS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "480p": { "16:9": "832*480", "9:16": "480*832", "1:1": "624*624" },
  "720p": { "16:9": "1280*720", "9:16": "720*1280", "1:1": "960*960", "4:3": "1088*832", "3:4": "832*1088" },
  "1080p": { "16:9": "1920*1080", "9:16": "1080*1920", "1:1": "1440*1440", "4:3": "1632*1248", "3:4": "1248*1632" },
};

type Start = "text" | "image" | "two images" | "either";

function startOf(model: string): Start {
  if (/-t2v/.test(model)) return "text";
  if (/-kf2v/.test(model)) return "two images";
  return /-i2v/.test(model) ? "image" : "either";
}

function secondsOf(version: number): VideoCapabilities["seconds"] {
  if (version >= 3) return { min: 2, max: 30 };
  if (version >= 2.7) return { min: 2, max: 15 };
  if (version >= 2.6) return [5, 10, 15];
  return version >= 2.5 ? [5, 10] : [5];
}

function audioOf(version: number): Pick<VideoCapabilities, "audio" | "defaultAudio"> {
  if (version >= 2.7) return { audio: "always" };
  return version >= 2.5 ? { audio: "chosen", defaultAudio: true } : { audio: "never" };
}

function capabilities(model: string): VideoCapabilities {
  const version = wanVersion(model);
  const start = startOf(model);
  return {
    perJob: 1,
    takes: ["negativePrompt", "enhancePrompt", "seed"],
    seeds: SEEDS,
    ratios: start === "text" || start === "either" ? RATIOS : [],
    shapedByImage: true,
    resolutions: version >= 2.6 ? ["720p", "1080p"] : ["720p", "480p", "1080p"],
    seconds: secondsOf(version),
    defaultSeconds: 5,
    ...audioOf(version),
    image: start !== "text",
    lastFrame: start === "two images" || (version >= 2.7 && start !== "text"),
    ...((start === "image" || start === "two images") && { imageOnly: true }),
  };
}

function submit(call: FittedVideoCall, { model }: AdapterContext): MediaRequest {
  const { negativePrompt, seed, enhancePrompt } = call;
  const json = {
    model,
    input: {
      ...(call.prompt && { prompt: call.prompt }),
      ...(negativePrompt !== undefined && { negative_prompt: negativePrompt }),
      ...framesOf(call, model),
    },
    parameters: {
      watermark: false,
      ...pickExtras(call.extras, EXTRAS),
      ...shapeOf(call, model),
      duration: call.seconds,
      ...(capabilities(model).audio === "chosen" && { audio: call.audio }),
      ...(seed !== undefined && { seed }),
      ...(enhancePrompt !== undefined && { prompt_extend: enhancePrompt }),
    },
  };
  const older = startOf(model) === "two images" && wanVersion(model) < 2.7;
  return submitTask(older ? "image2video/video-synthesis" : "video-generation/video-synthesis", json);
}

function framesOf({ image, lastFrame }: FittedVideoCall, model: string): JsonObject {
  const first = image && dataUrl(image);
  const last = lastFrame && dataUrl(lastFrame);
  if (wanVersion(model) >= 2.7) {
    const media = [
      ...(first ? [{ type: "first_frame", url: first }] : []),
      ...(last ? [{ type: "last_frame", url: last }] : []),
    ];
    return media.length === 0 ? {} : { media };
  }
  if (startOf(model) === "two images") {
    return { ...(first && { first_frame_url: first }), ...(last && { last_frame_url: last }) };
  }
  return first ? { img_url: first } : {};
}

function shapeOf(call: FittedVideoCall, model: string): JsonObject {
  const { resolution, aspectRatio } = call;
  if (wanVersion(model) < 2.7 && startOf(model) === "text") {
    return { size: pixelsOf(resolution, aspectRatio ?? "16:9") };
  }
  return {
    resolution: resolution.toUpperCase(),
    ...(aspectRatio !== undefined && { ratio: aspectRatio }),
  };
}

function pixelsOf(resolution: string, ratio: string): string {
  const known = PIXELS[resolution] ?? {};
  const size = known[ratio];
  if (size !== undefined) return size;
  throw new GatewayError(
    "unsupported_parameter",
    `The model does not support videos of ${ratio} at ${resolution}; supported there: ${Object.keys(known).join(", ")}.`,
    { path: "aspectRatio" },
  );
}

function finish(body: JsonObject, output: JsonObject): JobState<VideoReply> {
  const url = stringAt(output, "video_url");
  if (!url) throw emptyAnswer("a video");
  const usage = objectAt(body, "usage");
  const seconds = numberAt(usage, "output_video_duration") ?? numberAt(usage, "duration");
  const lines = numberAt(usage, "SR");
  return {
    state: "done",
    reply: {
      videos: [{ url, mimeType: "video/mp4" }],
      filtered: [],
      ...(seconds !== undefined && { seconds }),
      ...(lines !== undefined && { resolution: `${lines}p` }),
    },
  };
}

/** Wan's videos. Models that take videos as input (`r2v`) are left out: no call here can carry one. */
export const videos: VideoAdapter = {
  serves: (model) => wanVersion(model) > 0 && !/-(image|t2i|i2i|r2v)/.test(model),
  capabilities,
  submit,
  readSubmit: readSubmittedTask,
  poll: pollTask,
  readPoll: (answer, job) => readTask(answer, job, finish, failedVideo),
  error: readError,
};
