// https://www.volcengine.com/docs/82379/1520757

import { type JsonObject, numberAt, objectAt, stringAt } from "../../base/json.ts";
import type { AdapterContext, JobState, MediaAnswer, VideoAdapter } from "../../media/adapter.ts";
import type { InlineImage } from "../../media/image.ts";
import type { FittedVideoCall, VideoCapabilities } from "../../media/video-call.ts";
import type { VideoReply } from "../../media/video-reply.ts";
import { dataUrl } from "../media-adapters/data-url.ts";
import { failedVideo } from "../media-adapters/failed-job.ts";
import { emptyAnswer } from "../media-adapters/media-failure.ts";
import { pickExtras } from "../media-adapters/pick-extras.ts";
import { readError, readFailure } from "./errors.ts";

const PATH = "/contents/generations/tasks";
const EXTRAS = ["camera_fixed", "safety_identifier", "watermark"];

const V1_0: VideoCapabilities = {
  perJob: 1,
  takes: ["seed"],
  seeds: { min: -1, max: 4_294_967_295 },
  ratios: ["16:9", "4:3", "1:1", "3:4", "9:16", "21:9", "adaptive"],
  resolutions: ["720p", "480p", "1080p"],
  seconds: { min: 2, max: 12 },
  defaultSeconds: 5,
  audio: "never",
  image: true,
  lastFrame: true,
};

const V1_5: VideoCapabilities = { ...V1_0, seconds: { min: 4, max: 12 }, audio: "chosen", defaultAudio: true };
const V2_0: VideoCapabilities = { ...V1_5, seconds: { min: 4, max: 15 } };

function capabilities(model: string): VideoCapabilities {
  if (/seedance-1-5/.test(model)) return V1_5;
  if (!/seedance-1-0/.test(model)) return V2_0;
  if (/-t2v/.test(model)) return { ...V1_0, image: false, lastFrame: false };
  return /-i2v/.test(model) ? { ...V1_0, imageOnly: true } : V1_0;
}

function bodyOf(call: FittedVideoCall, { model }: AdapterContext): JsonObject {
  const { prompt, image, lastFrame, aspectRatio, seed } = call;
  return {
    // The host's default may change, and a watermark cannot be removed from a video.
    watermark: false,
    ...pickExtras(call.extras, EXTRAS),
    model,
    content: [
      ...(prompt ? [{ type: "text", text: prompt }] : []),
      ...(image ? [frame(image, "first_frame")] : []),
      ...(lastFrame ? [frame(lastFrame, "last_frame")] : []),
    ],
    ...(aspectRatio !== undefined && { ratio: aspectRatio }),
    resolution: call.resolution,
    duration: call.seconds,
    ...(capabilities(model).audio === "chosen" && { generate_audio: call.audio }),
    ...(seed !== undefined && { seed }),
  };
}

const frame = (image: InlineImage, role: string): JsonObject => ({
  type: "image_url",
  image_url: { url: dataUrl(image) },
  role,
});

function readJob({ body }: MediaAnswer, job: JsonObject): JobState<VideoReply> {
  switch (stringAt(body, "status")) {
    case undefined:
      throw emptyAnswer("the status of the job");
    case "succeeded": {
      const url = stringAt(objectAt(body, "content"), "video_url");
      if (!url) throw emptyAnswer("a video");
      return { state: "done", reply: { videos: [{ url, mimeType: "video/mp4" }], filtered: [], ...readFacts(body) } };
    }
    case "failed":
    case "cancelled":
    case "expired":
      return failedVideo(readFailure(objectAt(body, "error")));
    default:
      return { state: "waiting", job };
  }
}

function readFacts(body: JsonObject | undefined): Pick<VideoReply, "seconds" | "resolution" | "audio"> {
  const seconds = numberAt(body, "duration");
  const resolution = stringAt(body, "resolution");
  const audio = body?.["generate_audio"];
  return {
    ...(seconds !== undefined && { seconds }),
    ...(resolution !== undefined && { resolution }),
    ...(typeof audio === "boolean" && { audio }),
  };
}

/** Seedance. */
export const videos: VideoAdapter = {
  serves: (model) => /seedance|^ep-/.test(model),
  capabilities,
  submit: (call, context) => ({ method: "POST", url: PATH, body: { json: bodyOf(call, context) } }),
  readSubmit: ({ body }) => {
    const id = stringAt(body, "id");
    if (id) return { state: "waiting", job: { id } };
    const failure = objectAt(body, "error");
    throw failure ? readFailure(failure) : emptyAnswer("the name of a job");
  },
  poll: (job) => ({ method: "GET", url: `${PATH}/${encodeURIComponent(stringAt(job, "id") ?? "")}` }),
  readPoll: readJob,
  error: readError,
};
