// https://platform.minimax.io/docs/api-reference/video-generation-t2v

import { objectAt, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { GatewayError } from "../../canon/error.ts";
import type { JobHandle, JobState, MediaAnswer, VideoAdapter } from "../../media/adapter.ts";
import type { VideoCapabilities } from "../../media/video-call.ts";
import type { VideoReply } from "../../media/video-reply.ts";
import { dataUrl } from "../media-adapters/data-url.ts";
import { failedVideo, forgottenJob, reportedFailure } from "../media-adapters/failed-job.ts";
import { emptyAnswer } from "../media-adapters/media-failure.ts";
import { pickExtras } from "../media-adapters/pick-extras.ts";
import { failureInside, minimaxError } from "./errors.ts";

const HAILUO: VideoCapabilities = {
  perJob: 1,
  takes: ["enhancePrompt"],
  ratios: [],
  resolutions: ["768p", "1080p"],
  seconds: [6, 10],
  tied: [{ resolutions: ["1080p"], seconds: [6] }],
  defaultSeconds: 6,
  audio: "never",
  image: true,
  lastFrame: false,
  maxPrompt: 2000,
};

const FIRST_GENERATION: VideoCapabilities = { ...HAILUO, resolutions: ["720p"], seconds: [6] };

function capabilities(model: string): VideoCapabilities {
  if (model.startsWith("T2V")) return { ...FIRST_GENERATION, image: false };
  if (model.startsWith("I2V")) return { ...FIRST_GENERATION, imageOnly: true };
  if (model.endsWith("-02")) return { ...HAILUO, resolutions: ["768p", "1080p", "512p"], lastFrame: true };
  return model.endsWith("-Fast") ? { ...HAILUO, imageOnly: true } : HAILUO;
}

/**
 * The first version of the video API, in three steps: a task is submitted, the finished task names a file, and the file
 * names its URL. The job holds the task first, and then the file.
 */
export const hailuo: VideoAdapter = {
  serves: (model) => /^(?:MiniMax-Hailuo-|[TI]2V-01)/.test(model),
  capabilities,
  submit: (call, { model }) => ({
    method: "POST",
    url: "/v1/video_generation",
    body: {
      json: {
        ...pickExtras(call.extras, ["fast_pretreatment"]),
        model,
        ...withoutAbsent({ prompt: call.prompt }),
        duration: call.seconds,
        resolution: call.resolution.toUpperCase(),
        ...withoutAbsent({
          first_frame_image: call.image === undefined ? undefined : dataUrl(call.image),
          last_frame_image: call.lastFrame === undefined ? undefined : dataUrl(call.lastFrame),
        }),
        prompt_optimizer: call.enhancePrompt ?? false,
        aigc_watermark: false,
      },
    },
  }),
  readSubmit: (answer) => {
    const failure = failureInside(answer);
    if (failure) throw failure;
    const taskId = idAt(answer, "task_id");
    if (taskId === undefined) throw emptyAnswer("a task_id");
    return { state: "waiting", job: { taskId } };
  },
  poll: (job) => {
    const fileId = stringAt(job, "fileId");
    const url =
      fileId === undefined
        ? `/v1/query/video_generation?task_id=${encodeURIComponent(taskOf(job))}`
        : `/v1/files/retrieve?file_id=${encodeURIComponent(fileId)}`;
    return { method: "GET", url };
  },
  readPoll: (answer, job) => (job["fileId"] === undefined ? readTask(answer, job) : readFile(answer)),
  error: minimaxError,
};

function taskOf(job: JobHandle): string {
  const taskId = stringAt(job, "taskId");
  if (taskId === undefined) throw new GatewayError("internal", "The job names neither a task nor a file.");
  return taskId;
}

function readTask(answer: MediaAnswer, job: JobHandle): JobState<VideoReply> {
  const status = stringAt(answer.body, "status");
  const failure = failureInside(answer);
  if (status === "Fail") return failedVideo(failure ?? reportedFailure({ message: undefined, code: status }));
  // A poll holds nothing but the task's id, so nothing else can be wrong with it.
  if (failure?.kind === "invalid_request") return { state: "failed", error: forgottenJob() };
  if (failure) throw failure;
  if (status !== "Success") return { state: "waiting", job };
  const fileId = idAt(answer, "file_id");
  if (fileId === undefined) return { state: "failed", error: emptyAnswer("a file_id") };
  return { state: "waiting", job: { ...job, fileId }, afterMs: 0 };
}

function readFile(answer: MediaAnswer): JobState<VideoReply> {
  const failure = failureInside(answer);
  if (failure) throw failure;
  const url = stringAt(objectAt(answer.body, "file"), "download_url");
  if (!url) throw emptyAnswer("a download_url");
  return { state: "done", reply: { videos: [{ url, mimeType: "video/mp4" }], filtered: [] } };
}

/** Ids are strings, or numbers too large for JSON.parse, so they are read from the text. */
function idAt({ text }: MediaAnswer, key: "task_id" | "file_id"): string | undefined {
  return new RegExp(`"${key}"\\s*:\\s*(?:"([\\w-]+)"|(\\d+))`)
    .exec(text)
    ?.slice(1)
    .find((id) => id !== undefined);
}
