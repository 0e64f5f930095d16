import { withoutAbsent } from "../../base/without-absent.ts";
import type { ImageAdapter, JobState, MediaAnswer } from "../../media/adapter.ts";
import type { UpstreamImageReply } from "../../media/image-reply.ts";
import { failedImage } from "../media-adapters/failed-job.ts";
import { pickExtras } from "../media-adapters/pick-extras.ts";
import { lumaError } from "./errors.ts";
import { pollGeneration, RATIOS, readGeneration } from "./generation.ts";

/** The host takes input images by public URL only, which a client can give in the host's own fields. */
const EXTRAS = ["image_ref", "style_ref", "character_ref", "modify_image_ref"];

export const images: ImageAdapter = {
  serves: (model) => model.startsWith("photon-"),
  capabilities: () => ({
    maxCount: 4,
    perCall: 1,
    takes: [],
    sizes: { kind: "ratio", ratios: RATIOS, tiers: [] },
    maxInputs: 0,
    mask: false,
    formats: ["image/jpeg"],
    compresses: false,
  }),
  submit: (call, { model }) => ({
    method: "POST",
    url: "/generations/image",
    body: {
      json: {
        ...pickExtras(call.extras, EXTRAS),
        model,
        prompt: call.prompt,
        ...withoutAbsent({ aspect_ratio: call.aspectRatio }),
      },
    },
  }),
  readSubmit: read,
  poll: pollGeneration,
  readPoll: read,
  error: lumaError,
};

function read(answer: MediaAnswer): JobState<UpstreamImageReply> {
  return readGeneration<UpstreamImageReply>(
    answer,
    "image",
    (url) => ({ results: [{ kind: "made", image: { url } }], usage: { images: 1 } }),
    (error) =>
      error.kind === "content_blocked"
        ? { state: "done", reply: { results: [failedImage(error)], usage: { images: 0 } } }
        : { state: "failed", error },
  );
}
