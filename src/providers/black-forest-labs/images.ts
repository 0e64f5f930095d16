import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import type { AdapterContext, ImageAdapter, JobHandle, JobState, MediaAnswer } from "../../media/adapter.ts";
import type { FittedImageCall } from "../../media/image-call.ts";
import type { UpstreamImageReply } from "../../media/image-reply.ts";
import { forgottenJob, reportedFailure } from "../media-adapters/failed-job.ts";
import { emptyAnswer, failedAnswer } from "../media-adapters/media-failure.ts";
import { pickExtras } from "../media-adapters/pick-extras.ts";
import { flux } from "./flux.ts";

function bodyOf(call: FittedImageCall, { model }: AdapterContext): JsonObject {
  const { pixels, aspectRatio, seed, guidanceScale, enhancePrompt, outputMimeType, mask } = call;
  const { inputField, extras, capabilities } = flux(model);
  // Input fields are numbered from the second image on.
  const inputs = call.inputs.map(({ base64 }, index) => [
    index === 0 ? inputField : `${inputField}_${index + 1}`,
    base64,
  ]);
  return {
    ...pickExtras(call.extras, extras),
    prompt: call.prompt,
    ...Object.fromEntries(inputs),
    ...(mask && { mask: mask.base64 }),
    ...(pixels && { width: pixels.width, height: pixels.height }),
    ...(capabilities.sizes.kind === "ratio" && aspectRatio !== undefined && { aspect_ratio: aspectRatio }),
    ...(seed !== undefined && { seed }),
    ...(guidanceScale !== undefined && { guidance: guidanceScale }),
    ...(enhancePrompt !== undefined && { prompt_upsampling: enhancePrompt }),
    ...(outputMimeType !== undefined && { output_format: outputMimeType.replace("image/", "") }),
  };
}

function readJob({ body }: MediaAnswer, job: JobHandle): JobState<UpstreamImageReply> {
  switch (stringAt(body, "status") ?? stringAt(body, "state")) {
    case undefined:
      throw emptyAnswer("the status of the job");
    case "Ready":
      return readResult(objectAt(body, "result"), job);
    case "Content Moderated":
      return { state: "done", reply: { results: [{ kind: "filtered", reason: reasonOf(body, "image") }] } };
    case "Request Moderated":
      return { state: "failed", error: new GatewayError("content_blocked", reasonOf(body, "request")) };
    case "Error":
    case "Failed":
      return {
        state: "failed",
        error: reportedFailure({ message: stringAt(body, "message") ?? stringAt(body, "detail") }),
      };
    case "Task not found":
      return { state: "failed", error: forgottenJob() };
    default:
      return { state: "waiting", job };
  }
}

function readResult(result: JsonObject | undefined, job: JobHandle): JobState<UpstreamImageReply> {
  const url = stringAt(result, "sample");
  if (!url) throw emptyAnswer("an image");
  // The prompt is always in the answer; it differs from the client's only where enhancing was asked for.
  const revisedPrompt = job["enhanced"] === true ? stringAt(result, "prompt") : undefined;
  return {
    state: "done",
    reply: { results: [{ kind: "made", image: { url }, ...(revisedPrompt && { revisedPrompt }) }] },
  };
}

function reasonOf(body: JsonObject | undefined, what: string): string {
  const reasons = arrayAt(objectAt(body, "details"), "Moderation Reasons").filter((one) => typeof one === "string");
  const why = reasons.length === 0 ? "" : `: ${reasons.join(", ")}`;
  return `The provider's moderation blocked the ${what}${why}.`;
}

/** FLUX. */
export const images: ImageAdapter = {
  serves: (model) => model.startsWith("flux-"),
  capabilities: (model) => flux(model).capabilities,
  submit: (call, context) => ({
    method: "POST",
    url: `/${encodeURIComponent(context.model)}`,
    body: { json: bodyOf(call, context) },
  }),
  readSubmit: ({ body }, call) => {
    const id = stringAt(body, "id");
    if (!isObject(body) || !id) throw emptyAnswer("the name of a job");
    const url = stringAt(body, "polling_url");
    return { state: "waiting", job: { id, ...(url && { url }), ...(call.enhancePrompt && { enhanced: true }) } };
  },
  // A job is known only in the region that accepted it, which the answer names.
  poll: (job) => ({
    method: "GET",
    url: stringAt(job, "url") ?? `/get_result?id=${encodeURIComponent(stringAt(job, "id") ?? "")}`,
  }),
  readPoll: readJob,
  error: readError,
  pollIntervalMs: 1_000,
};

/** An answer `{ detail }` or `{ message }`; for invalid fields, `detail` is a list of them. */
function readError(answer: MediaAnswer): GatewayError {
  const { body } = answer;
  const faults = arrayAt(body, "detail").filter(isObject);
  const [first] = faults;
  return failedAnswer(answer, {
    message: stringAt(body, "detail") ?? (faults.map(wordsOf).join("; ") || stringAt(body, "message")),
    path: first && pathOf(first),
  });
}

const wordsOf = (fault: JsonObject): string => `${pathOf(fault)}: ${stringAt(fault, "msg") ?? "not accepted"}`;

/** `loc` begins with the part of the request, which is always its body. */
const pathOf = (fault: JsonObject): string =>
  arrayAt(fault, "loc")
    .filter((step, index) => index > 0 || step !== "body")
    .join(".");
