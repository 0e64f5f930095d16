// https://docs.z.ai/api-reference/video/generate-video

import { arrayAt, type JsonObject, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { AdapterContext, JobHandle, JobState, VideoAdapter } from "../../media/adapter.ts";
import type { FittedVideoCall } from "../../media/video-call.ts";
import type { VideoReply } from "../../media/video-reply.ts";
import { dataUrl } from "../media-adapters/data-url.ts";
import { failedVideo } from "../media-adapters/failed-job.ts";
import { emptyAnswer, jobFailure, mediaFailure } from "../media-adapters/media-failure.ts";
import { pickExtras } from "../media-adapters/pick-extras.ts";
import { Z_AI_CODES } from "./errors.ts";
import { isVidu, videoCapabilities } from "./video-capabilities.ts";

/** Its square video has one size, whatever the level. */
const SIZES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "720p": { "16:9": "1280x720", "9:16": "720x1280", "1:1": "1024x1024" },
  "1080p": { "16:9": "1920x1080", "9:16": "1080x1920", "1:1": "1024x1024" },
};

const DOCUMENTED = ["quality", "style", "movement_amplitude", "off_peak", "watermark_enabled", "user_id"];

export const zAiVideos: VideoAdapter = {
  serves: (model) => model.startsWith("cogvideox") || isVidu(model),
  capabilities: videoCapabilities,
  submit: (call, context) => ({ method: "POST", url: "/videos/generations", body: { json: bodyOf(call, context) } }),
  readSubmit: (answer) => {
    const id = stringAt(answer.body, "id");
    if (id !== undefined) return stateOf(answer.body, { id });
    throw answer.body?.["error"] == null ? emptyAnswer("a job") : mediaFailure(answer, Z_AI_CODES);
  },
  poll: (job) => ({ method: "GET", url: `/async-result/${encodeURIComponent(stringAt(job, "id") ?? "")}` }),
  readPoll: (answer, job) => {
    if (answer.body === undefined) throw emptyAnswer("the state of the job");
    // Without a state of the job, an error is about the poll.
    if (answer.body["error"] != null && answer.body["task_status"] === undefined)
      throw mediaFailure(answer, Z_AI_CODES);
    return stateOf(answer.body, job);
  },
  error: (answer) => mediaFailure(answer, Z_AI_CODES),
};

function bodyOf(call: FittedVideoCall, { model, jobName }: AdapterContext): JsonObject {
  const vidu = isVidu(model);
  const ratio = call.aspectRatio ?? "16:9";
  // The other family takes the level as the size of a landscape video, and the shape separately.
  const size = SIZES[call.resolution]?.[vidu ? "16:9" : ratio];
  const frames = [call.image, call.lastFrame].filter((frame) => frame !== undefined).map(dataUrl);
  return {
    ...pickExtras(call.extras, DOCUMENTED),
    model,
    ...withoutAbsent({ prompt: call.prompt }),
    ...(frames.length === 0 ? {} : { image_url: frames.length === 1 ? frames[0] : frames }),
    ...withoutAbsent({ size }),
    ...(vidu && call.aspectRatio !== undefined ? { aspect_ratio: call.aspectRatio } : {}),
    duration: call.seconds,
    ...(videoCapabilities(model).audio === "chosen" ? { with_audio: call.audio } : {}),
    ...withoutAbsent({ fps: call.fps }),
    request_id: jobName,
  };
}

function stateOf(body: JsonObject | undefined, job: JobHandle): JobState<VideoReply> {
  const status = stringAt(body, "task_status");
  if (status === "FAIL") return failedVideo(jobFailure(body, Z_AI_CODES));
  if (status !== "SUCCESS") return { state: "waiting", job };
  const videos = arrayAt(body, "video_result").flatMap((item) => {
    const url = stringAt(item, "url");
    return url ? [{ url, mimeType: "video/mp4" }] : [];
  });
  if (videos.length === 0) return { state: "failed", error: emptyAnswer("a video") };
  return { state: "done", reply: { videos, filtered: [] } };
}
