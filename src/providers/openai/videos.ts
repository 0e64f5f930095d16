// https://platform.openai.com/docs/api-reference/videos

import { type JsonObject, numberAt, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { JobState, MediaAnswer, VideoAdapter } from "../../media/adapter.ts";
import type { FittedVideoCall, VideoCapabilities } from "../../media/video-call.ts";
import type { VideoReply } from "../../media/video-reply.ts";
import { failedVideo } from "../media-adapters/failed-job.ts";
import { emptyAnswer, jobFailure, mediaFailure } from "../media-adapters/media-failure.ts";
import { OPENAI_CODES } from "./errors.ts";

/** The host takes sizes only. Its larger ones are 1024 pixels high, and are priced as its high resolution. */
const SIZES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "720p": { "16:9": "1280x720", "9:16": "720x1280" },
  "1080p": { "16:9": "1792x1024", "9:16": "1024x1792" },
};

const SORA: VideoCapabilities = {
  perJob: 1,
  takes: [],
  ratios: ["16:9", "9:16"],
  resolutions: ["720p"],
  seconds: [4, 8, 12],
  defaultSeconds: 4,
  audio: "always",
  image: true,
  lastFrame: false,
  promptNeeded: true,
};

export const openaiVideos: VideoAdapter = {
  serves: (model) => model.startsWith("sora-"),
  capabilities: (model) => (model.startsWith("sora-2-pro") ? { ...SORA, resolutions: ["720p", "1080p"] } : SORA),
  submit: (call, context) => {
    const fields = fieldsOf(call, context.model);
    const { image } = call;
    if (image === undefined) return { method: "POST", url: "/videos", body: { json: fields } };
    const values = Object.entries(fields).map(([name, value]) => ({ name, value: String(value) }));
    const extension = image.mimeType === "image/jpeg" ? "jpg" : image.mimeType.slice("image/".length);
    const file = { name: "input_reference", fileName: `image.${extension}`, ...image };
    return { method: "POST", url: "/videos", body: { form: [...values, file] } };
  },
  readSubmit: readJob,
  poll: (job) => ({ method: "GET", url: endpointOf(stringAt(job, "id") ?? "") }),
  readPoll: readJob,
  error: (answer) => mediaFailure(answer, OPENAI_CODES),
};

const endpointOf = (id: string) => `/videos/${encodeURIComponent(id)}`;

function fieldsOf(call: FittedVideoCall, model: string): JsonObject {
  const size = SIZES[call.resolution]?.[call.aspectRatio ?? "16:9"];
  return {
    model,
    prompt: call.prompt ?? "",
    seconds: String(call.seconds),
    ...withoutAbsent({ size }),
  };
}

/** The answers to the submit and to polls have the same form. */
function readJob(answer: MediaAnswer): JobState<VideoReply> {
  const { body } = answer;
  const id = stringAt(body, "id");
  if (body === undefined || id === undefined) {
    throw body?.["error"] == null ? emptyAnswer("a job") : mediaFailure(answer, OPENAI_CODES);
  }
  const status = stringAt(body, "status");
  if (status === "failed") return failedVideo(jobFailure(body, OPENAI_CODES));
  if (status === "completed")
    return { state: "done", reply: { ...replyOf(body), videos: [contentOf(id)], filtered: [] } };
  const progress = numberAt(body, "progress");
  return { state: "waiting", job: { id }, ...withoutAbsent({ progress }) };
}

/** The video is at a URL of the API itself, which needs the credential like any other. */
function contentOf(id: string): VideoReply["videos"][number] {
  return { url: `${endpointOf(id)}/content`, mimeType: "video/mp4", credential: true };
}

function replyOf(body: JsonObject): Pick<VideoReply, "seconds" | "resolution" | "audio"> {
  const seconds = Number(body["seconds"]);
  const size = stringAt(body, "size");
  const resolution = Object.keys(SIZES).find(
    (one) => size !== undefined && Object.values(SIZES[one] ?? {}).includes(size),
  );
  return {
    ...(seconds > 0 ? { seconds } : {}),
    ...withoutAbsent({ resolution }),
    audio: true,
  };
}
