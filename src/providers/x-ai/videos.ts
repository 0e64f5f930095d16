// https://docs.x.ai/docs/guides/video-generations

import { type JsonObject, numberAt, objectAt, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { JobHandle, JobState, MediaAnswer, VideoAdapter } from "../../media/adapter.ts";
import type { FittedVideoCall, VideoCapabilities } from "../../media/video-call.ts";
import type { VideoReply } from "../../media/video-reply.ts";
import { dataUrl } from "../media-adapters/data-url.ts";
import { failedVideo, forgottenJob } from "../media-adapters/failed-job.ts";
import { emptyAnswer, jobFailure } from "../media-adapters/media-failure.ts";
import { pickExtras } from "../media-adapters/pick-extras.ts";
import { X_AI_CODES, xAiError } from "./errors.ts";

const IMAGINE: VideoCapabilities = {
  perJob: 1,
  takes: [],
  ratios: ["16:9", "9:16", "1:1", "4:3", "3:4", "3:2", "2:3"],
  // The host's own default, and what the catalogue's rate is for.
  resolutions: ["480p", "720p"],
  seconds: { min: 1, max: 15 },
  defaultSeconds: 8,
  audio: "always",
  image: true,
  lastFrame: false,
};

export const xAiVideos: VideoAdapter = {
  serves: (model) => model.startsWith("grok-imagine-video"),
  // The first version stops at 720p.
  capabilities: (model) =>
    model === "grok-imagine-video" ? IMAGINE : { ...IMAGINE, resolutions: [...IMAGINE.resolutions, "1080p"] },
  submit: (call, { model }) => ({ method: "POST", url: "/videos/generations", body: { json: bodyOf(call, model) } }),
  readSubmit: (answer) => {
    const id = stringAt(answer.body, "request_id");
    if (id !== undefined) return { state: "waiting", job: { id } };
    throw answer.body?.["error"] == null ? emptyAnswer("a job") : xAiError(answer);
  },
  poll: (job) => ({ method: "GET", url: `/videos/${encodeURIComponent(stringAt(job, "id") ?? "")}` }),
  readPoll,
  error: xAiError,
};

function bodyOf(call: FittedVideoCall, model: string): JsonObject {
  return {
    ...pickExtras(call.extras, ["reference_images", "reference_audios"]),
    model,
    ...withoutAbsent({ prompt: call.prompt }),
    duration: call.seconds,
    ...withoutAbsent({ aspect_ratio: call.aspectRatio }),
    resolution: call.resolution,
    ...(call.image === undefined ? {} : { image: { url: dataUrl(call.image) } }),
  };
}

/** While a job runs the answer is 202, and it may be empty. */
function readPoll(answer: MediaAnswer, job: JobHandle): JobState<VideoReply> {
  const { body, status } = answer;
  if (status !== 202 && body === undefined) throw emptyAnswer("the state of the job");
  const word = stringAt(body, "status");
  // Without a state of the job, an error is about the poll.
  if (word === undefined && body?.["error"] != null) throw xAiError(answer);
  if (word === "failed") return failedVideo(jobFailure(body, X_AI_CODES));
  if (word === "expired") return { state: "failed", error: forgottenJob() };
  if (word === "done") return readDone(body);
  const progress = numberAt(body, "progress");
  return { state: "waiting", job, ...withoutAbsent({ progress }) };
}

function readDone(body: JsonObject | undefined): JobState<VideoReply> {
  const video = objectAt(body, "video");
  if (video?.["respect_moderation"] === false) {
    const reason = "The provider's moderation blocked the video.";
    return { state: "done", reply: { videos: [], filtered: [reason] } };
  }
  const url = stringAt(video, "url");
  if (!url) return failedVideo(body?.["error"] == null ? emptyAnswer("a video") : jobFailure(body, X_AI_CODES));
  const seconds = numberAt(video, "duration");
  const reply = { videos: [{ url, mimeType: "video/mp4" }], filtered: [], audio: true };
  return { state: "done", reply: { ...reply, ...withoutAbsent({ seconds }) } };
}
