// https://platform.minimax.io/docs/api-reference/video-generation-t2v

import { type JsonObject, numberAt, objectAt, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { JobHandle, JobState, MediaAnswer, VideoAdapter } from "../../media/adapter.ts";
import type { InlineImage } from "../../media/image.ts";
import type { VideoReply } from "../../media/video-reply.ts";
import { dataUrl } from "../media-adapters/data-url.ts";
import { failedVideo } from "../media-adapters/failed-job.ts";
import { emptyAnswer } from "../media-adapters/media-failure.ts";
import { failureInside, minimaxError, taskError } from "./errors.ts";

const FAILED: ReadonlySet<string> = new Set(["failed", "cancelled", "expired"]);

/** The second version of the video API. */
export const h3: VideoAdapter = {
  serves: (model) => model.startsWith("MiniMax-H3"),
  capabilities: () => ({
    perJob: 1,
    takes: [],
    ratios: ["16:9", "9:16", "1:1", "4:3", "3:4", "21:9", "adaptive"],
    resolutions: ["768p", "2k"],
    seconds: { min: 4, max: 15 },
    defaultSeconds: 5,
    audio: "always",
    image: true,
    lastFrame: true,
    promptNeeded: true,
  }),
  submit: (call, { model }) => {
    return {
      method: "POST",
      url: "/v2/video_generation",
      body: {
        json: {
          model,
          content: [
            { type: "text", text: call.prompt ?? "" },
            ...(call.image === undefined ? [] : [frame(call.image, "first_frame")]),
            ...(call.lastFrame === undefined ? [] : [frame(call.lastFrame, "last_frame")]),
          ],
          resolution: call.resolution.toUpperCase(),
          duration: call.seconds,
          ...withoutAbsent({ ratio: call.aspectRatio }),
          aigc_watermark: false,
        },
      },
    };
  },
  readSubmit: (answer) => {
    const failure = failureInside(answer);
    if (failure) throw failure;
    const taskId = stringAt(answer.body, "task_id");
    if (!taskId) throw emptyAnswer("a task_id");
    return { state: "waiting", job: { taskId } };
  },
  poll: (job) => ({
    method: "GET",
    url: `/v2/query/video_generation/${encodeURIComponent(stringAt(job, "taskId") ?? "")}`,
  }),
  readPoll,
  error: minimaxError,
};

/** The URL is nested one level deeper than elsewhere; a flat one would be silently ignored. */
const frame = (image: InlineImage, role: string): JsonObject => ({
  type: "image_url",
  image_url: { url: dataUrl(image) },
  role,
});

function readPoll(answer: MediaAnswer, job: JobHandle): JobState<VideoReply> {
  const failure = failureInside(answer);
  if (failure) throw failure;
  const task = objectAt(answer.body, "task");
  if (!task) throw emptyAnswer("a task");
  const status = stringAt(task, "status") ?? "";
  if (FAILED.has(status)) return failedVideo(taskError(objectAt(task, "error"), status));
  if (status !== "succeeded") return { state: "waiting", job };
  const url = stringAt(objectAt(task, "content"), "url");
  if (!url) return { state: "failed", error: emptyAnswer("a video") };
  const seconds = numberAt(objectAt(task, "usage"), "output_seconds") ?? numberAt(task, "duration");
  const resolution = stringAt(task, "resolution")?.toLowerCase();
  return {
    state: "done",
    reply: {
      videos: [{ url, mimeType: "video/mp4" }],
      filtered: [],
      ...withoutAbsent({ seconds, resolution }),
    },
  };
}
