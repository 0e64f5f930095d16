import { arrayAt, type JsonObject, objectAt, stringAt } from "../../base/json.ts";
import type { ImageAdapter, JobHandle, JobState, MediaAnswer } from "../../media/adapter.ts";
import type { MediaLink } from "../../media/image.ts";
import type { FittedImageCall } from "../../media/image-call.ts";
import type { ImageCapabilities } from "../../media/image-capabilities.ts";
import type { ImageResult, UpstreamImageReply } from "../../media/image-reply.ts";
import { forgottenJob } from "../media-adapters/failed-job.ts";
import { emptyAnswer } from "../media-adapters/media-failure.ts";
import { pickExtras } from "../media-adapters/pick-extras.ts";
import { action, SEEDS } from "./action.ts";
import { readError, readFailure, readRefusal } from "./errors.ts";

const SUBMIT = "SubmitTextToImageJob";
const QUERY = "QueryTextToImageJob";

const SIDES = [1024, 640, 704, 768, 832, 896, 960, 1088, 1152, 1216, 1280, 1344, 1408];

const CAPABILITIES: ImageCapabilities = {
  maxCount: 1,
  perCall: 1,
  takes: ["seed", "watermark", "enhancePrompt"],
  seeds: SEEDS,
  // Each width has one height: their sum is 2048. The square comes first.
  sizes: { kind: "presets", sizes: SIDES.map((width) => ({ width, height: 2048 - width })) },
  maxInputs: 3,
  mask: false,
  formats: ["image/jpeg"],
  compresses: false,
  maxPrompt: 1024,
};

function bodyOf(call: FittedImageCall): JsonObject {
  const { pixels, seed, inputs } = call;
  // Rewriting the prompt makes the seed worthless: where rewriting is not asked for, the seed wins.
  const revise = call.enhancePrompt ?? (seed === undefined ? undefined : false);
  return {
    ...pickExtras(call.extras, ["LogoParam"]),
    Prompt: call.prompt,
    LogoAdd: call.watermark ? 1 : 0,
    ...(pixels && { Resolution: `${pixels.width}:${pixels.height}` }),
    ...(inputs.length > 0 && { Images: inputs.map(({ base64 }) => base64) }),
    ...(seed !== undefined && { Seed: seed }),
    ...(revise !== undefined && { Revise: revise ? 1 : 0 }),
  };
}

function readJob({ body }: MediaAnswer, job: JobHandle): JobState<UpstreamImageReply> {
  const response = objectAt(body, "Response");
  const code = stringAt(response, "JobStatusCode");
  if (response === undefined || code === undefined) {
    if (/JobNotExist|JobNotFound/.test(stringAt(objectAt(response, "Error"), "Code") ?? "")) {
      return { state: "failed", error: forgottenJob() };
    }
    throw readRefusal(body) ?? emptyAnswer("the status of the job");
  }
  if (code === "5") return { state: "done", reply: { results: readImages(response) } };
  if (code !== "4") return { state: "waiting", job };
  return {
    state: "failed",
    error: readFailure(stringAt(response, "JobErrorCode"), stringAt(response, "JobErrorMsg")),
  };
}

function readImages(response: JsonObject): ImageResult<MediaLink>[] {
  const prompts = arrayAt(response, "RevisedPrompt");
  const results = arrayAt(response, "ResultImage").flatMap((url, index): ImageResult<MediaLink>[] => {
    if (typeof url !== "string" || url === "") return [];
    const revised = prompts[index];
    return [
      { kind: "made", image: { url }, ...(typeof revised === "string" && revised && { revisedPrompt: revised }) },
    ];
  });
  if (results.length === 0) throw emptyAnswer("an image");
  return results;
}

/** Hunyuan Image 3.0, which answers with a job. */
export const images: ImageAdapter = {
  serves: (model) => model === SUBMIT,
  capabilities: () => CAPABILITIES,
  submit: (call, context) => action(SUBMIT, bodyOf(call), context),
  readSubmit: ({ body }) => {
    const id = stringAt(objectAt(body, "Response"), "JobId");
    if (id) return { state: "waiting", job: { id } };
    throw readRefusal(body) ?? emptyAnswer("the name of a job");
  },
  poll: (job, context) => action(QUERY, { JobId: stringAt(job, "id") ?? "" }, context),
  readPoll: readJob,
  error: readError,
};
