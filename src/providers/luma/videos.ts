import { withoutAbsent } from "../../base/without-absent.ts";
import type { JobState, MediaAnswer, VideoAdapter } from "../../media/adapter.ts";
import type { VideoReply } from "../../media/video-reply.ts";
import { failedVideo } from "../media-adapters/failed-job.ts";
import { pickExtras } from "../media-adapters/pick-extras.ts";
import { lumaError } from "./errors.ts";
import { pollGeneration, RATIOS, readGeneration } from "./generation.ts";

/** The host takes keyframes by public URL only, which a client can give in the host's own field, not as an image. */
const EXTRAS = ["loop", "concepts", "keyframes"];

export const videos: VideoAdapter = {
  serves: (model) => model.startsWith("ray-"),
  capabilities: (model) => ({
    perJob: 1,
    takes: [],
    ratios: RATIOS,
    resolutions: ["720p", "540p", "1080p", "4k"],
    seconds: model.startsWith("ray-3") ? [5, 10] : [5, 9],
    defaultSeconds: 5,
    audio: "never",
    image: false,
    lastFrame: false,
  }),
  submit: (call, { model }) => ({
    method: "POST",
    url: "/generations",
    body: {
      json: {
        ...pickExtras(call.extras, EXTRAS),
        model,
        ...withoutAbsent({ prompt: call.prompt }),
        resolution: call.resolution,
        duration: `${call.seconds}s`,
        ...withoutAbsent({ aspect_ratio: call.aspectRatio }),
      },
    },
  }),
  readSubmit: read,
  poll: pollGeneration,
  readPoll: read,
  error: lumaError,
};

function read(answer: MediaAnswer): JobState<VideoReply> {
  return readGeneration(
    answer,
    "video",
    (url) => ({ videos: [{ url, mimeType: "video/mp4" }], filtered: [] }),
    failedVideo,
  );
}
