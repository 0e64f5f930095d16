// https://platform.openai.com/docs/api-reference/videos

import { type JsonObject, numberAt, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { JobHandle, JobState, MediaAnswer, MediaRequest, VideoAdapter } from "../../media/adapter.ts";
import type { FittedVideoCall, VideoCapabilities, VideoSource } from "../../media/video-call.ts";
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
  sizes: SIZES,
  derives: { remix: true, edit: true, extend: [4, 8, 12, 16, 20] },
};

export const openaiVideos: VideoAdapter = {
  serves: (model) => model.startsWith("sora-"),
  capabilities: (model) => (model.startsWith("sora-2-pro") ? { ...SORA, resolutions: ["720p", "1080p"] } : SORA),
  submit: (call, context) => {
    if (call.source !== undefined) return { method: "POST", ...derivedFrom(call.source, call) };
    const fields = fieldsOf(call, context.model);
    const { image } = call;
    if (image === undefined) return { method: "POST", url: "/videos", body: { json: fields } };
    const values = Object.entries(fields).map(([name, value]) => ({ name, value: String(value) }));
    const extension = image.mimeType === "image/jpeg" ? "jpg" : image.mimeType.slice("image/".length);
    const file = { name: "input_reference", fileName: `image.${extension}`, ...image };
    return { method: "POST", url: "/videos", body: { form: [...values, file] } };
  },
  readSubmit: (answer, { source }) => readJob(answer, source?.kind === "extend" ? { extends: true } : {}),
  poll: (job) => ({ method: "GET", url: endpointOf(stringAt(job, "id") ?? "") }),
  readPoll: readJob,
  error: (answer) => mediaFailure(answer, OPENAI_CODES),
};

const endpointOf = (id: string) => `/videos/${encodeURIComponent(id)}`;

/** The new video has the model, size and, unless it is an extension, the length of the earlier one. */
function derivedFrom(
  { kind, job }: VideoSource,
  { prompt = "", seconds }: FittedVideoCall,
): Pick<MediaRequest, "url" | "body"> {
  const id = stringAt(job, "id") ?? "";
  if (kind === "remix") return { url: `${endpointOf(id)}/remix`, body: { json: { prompt } } };
  const json = { prompt, video: { id } };
  if (kind === "edit") return { url: "/videos/edits", body: { json } };
  return { url: "/videos/extensions", body: { json: { ...json, seconds: String(seconds) } } };
}

function fieldsOf(call: FittedVideoCall, model: string): JsonObject {
  const size = SIZES[call.resolution]?.[call.aspectRatio ?? "16:9"];
  return {
    model,
    prompt: call.prompt ?? "",
    seconds: String(call.seconds),
    ...withoutAbsent({ size }),
  };
}

/**
 * The answers to the submit and to polls have the same form. The length of an extended video includes that of the
 * earlier one, which was billed before, so it is not reported.
 */
function readJob(answer: MediaAnswer, job: JobHandle): JobState<VideoReply> {
  const { body } = answer;
  const id = stringAt(body, "id");
  if (body === undefined || id === undefined) {
    throw body?.["error"] == null ? emptyAnswer("a job") : mediaFailure(answer, OPENAI_CODES);
  }
  const status = stringAt(body, "status");
  if (status === "failed") return failedVideo(jobFailure(body, OPENAI_CODES));
  if (status === "completed")
    return {
      state: "done",
      reply: { ...replyOf(body, job["extends"] === true), videos: [contentOf(id)], filtered: [] },
    };
  const progress = numberAt(body, "progress");
  return { state: "waiting", job: { ...job, id }, ...withoutAbsent({ progress }) };
}

/** The video is at a URL of the API itself, which needs the credential like any other. */
function contentOf(id: string): VideoReply["videos"][number] {
  return { url: `${endpointOf(id)}/content`, mimeType: "video/mp4", credential: true };
}

function replyOf(body: JsonObject, isExtended: boolean): Pick<VideoReply, "seconds" | "resolution" | "audio"> {
  const seconds = Number(body["seconds"]);
  const size = stringAt(body, "size");
  const resolution = Object.keys(SIZES).find(
    (one) => size !== undefined && Object.values(SIZES[one] ?? {}).includes(size),
  );
  return {
    ...(seconds > 0 && !isExtended ? { seconds } : {}),
    ...withoutAbsent({ resolution }),
    audio: true,
  };
}
