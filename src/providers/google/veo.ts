// https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/veo-video-generation

import { arrayAt, type JsonObject, numberAt, objectAt, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { GatewayError } from "../../canon/error.ts";
import type { JobHandle, JobState, MediaAnswer, VideoAdapter } from "../../media/adapter.ts";
import type { InlineImage, MediaLink } from "../../media/image.ts";
import type { FittedVideoCall, VideoCapabilities } from "../../media/video-call.ts";
import type { VideoReply } from "../../media/video-reply.ts";
import { failedVideo } from "../media-adapters/failed-job.ts";
import { emptyAnswer } from "../media-adapters/media-failure.ts";
import { pickExtras } from "../media-adapters/pick-extras.ts";
import { googleError, operationError } from "./errors.ts";
import { type GoogleHost, verbPath } from "./host.ts";

/** The name becomes part of a URL at the Gemini API, so it must not contain anything else. */
const OPERATION_NAME = /^models\/[\w.-]+\/operations\/[\w.-]+$/;
const FILTERED = "The provider's safety filter blocked this video.";

/** The last generation without sound, whose resolution cannot be chosen. */
const isSilent = (model: string): boolean => model.startsWith("veo-2");

/** Veo, by a long-running prediction. */
export function veo(host: GoogleHost): VideoAdapter {
  const vertex = host.name === "vertex";
  return {
    serves: (model) => model.startsWith("veo"),
    capabilities: (model) => capabilities(host, model),
    submit: (call, context) => ({
      method: "POST",
      url: verbPath(host, context, "predictLongRunning"),
      body: { json: { instances: [instance(call)], parameters: parameters(call, context.model, vertex) } },
    }),
    readSubmit: (answer) => readOperation(answer, undefined),
    poll: (job, context) => {
      const name = operationName(job);
      if (vertex) {
        const url = verbPath(host, context, "fetchPredictOperation");
        return { method: "POST", url, body: { json: { operationName: name } } };
      }
      if (!OPERATION_NAME.test(name))
        throw new GatewayError("upstream_failed", "The name of the job is not the name of an operation.");
      return { method: "GET", url: `${host.models(context.settings).replace(/\/models$/, "")}/${name}` };
    },
    readPoll: (answer, job) => readOperation(answer, job),
    error: googleError,
  };
}

function capabilities(host: GoogleHost, model: string): VideoCapabilities {
  const vertex = host.name === "vertex";
  const silent = isSilent(model);
  return {
    perJob: vertex ? 4 : 1,
    takes: ["negativePrompt", "enhancePrompt", "personGeneration", ...(vertex ? ["seed" as const] : [])],
    people: ["dont_allow", "allow_adult"],
    seeds: { min: 0, max: 4_294_967_295 },
    ratios: ["16:9", "9:16"],
    resolutions: resolutionsOf(model),
    seconds: silent ? { min: 5, max: 8 } : [4, 6, 8],
    ...(silent ? {} : { tied: [{ resolutions: ["1080p", "4k"], lastFrame: true, seconds: [8] }] }),
    defaultSeconds: 8,
    ...(silent ? { audio: "never" } : vertex ? { audio: "chosen", defaultAudio: false } : { audio: "always" }),
    image: true,
    lastFrame: !model.startsWith("veo-3.0"),
  };
}

function resolutionsOf(model: string): string[] {
  if (isSilent(model)) return ["720p"];
  return model.startsWith("veo-3.0") || model.includes("lite") ? ["720p", "1080p"] : ["720p", "1080p", "4k"];
}

function instance({ prompt, image, lastFrame }: FittedVideoCall): JsonObject {
  return {
    ...withoutAbsent({
      prompt,
      image: image === undefined ? undefined : bytes(image),
      lastFrame: lastFrame === undefined ? undefined : bytes(lastFrame),
    }),
  };
}

const bytes = ({ base64, mimeType }: InlineImage): JsonObject => ({ bytesBase64Encoded: base64, mimeType });

function parameters(call: FittedVideoCall, model: string, vertex: boolean): JsonObject {
  return {
    ...(vertex ? pickExtras(call.extras, ["compressionQuality", "resizeMode"]) : {}),
    sampleCount: call.count,
    durationSeconds: call.seconds,
    ...withoutAbsent({ aspectRatio: call.aspectRatio }),
    ...(isSilent(model) ? {} : { resolution: call.resolution }),
    ...(vertex && !isSilent(model) ? { generateAudio: call.audio } : {}),
    ...withoutAbsent({
      negativePrompt: call.negativePrompt,
      enhancePrompt: call.enhancePrompt,
      personGeneration: call.personGeneration,
      seed: call.seed,
    }),
  };
}

function readOperation({ body }: MediaAnswer, job: JobHandle | undefined): JobState<VideoReply> {
  const name = stringAt(body, "name") ?? (job && operationName(job));
  if (!body || name === undefined) throw emptyAnswer("the name of an operation");
  if (body["done"] !== true) return { state: "waiting", job: { name } };
  if (objectAt(body, "error")) return failedVideo(operationError(body));
  const reply = readReply(objectAt(body, "response"));
  if (reply.videos.length + reply.filtered.length > 0) return { state: "done", reply };
  return { state: "failed", error: emptyAnswer("a video") };
}

/** Vertex lists videos directly, the Gemini API wraps them in samples. */
function readReply(response: JsonObject | undefined): VideoReply {
  const wrapped = objectAt(response, "generateVideoResponse") ?? response;
  const samples = arrayAt(wrapped, "generatedSamples").map((sample) => objectAt(sample, "video"));
  const found = [...arrayAt(wrapped, "videos"), ...samples].map(readVideo);
  const reasons = arrayAt(wrapped, "raiMediaFilteredReasons").filter((reason) => typeof reason === "string");
  const unexplained = Math.max(0, (numberAt(wrapped, "raiMediaFilteredCount") ?? 0) - reasons.length);
  return {
    videos: found.filter((video) => video !== undefined),
    filtered: [...reasons, ...Array.from({ length: unexplained }, () => reasons.at(-1) ?? FILTERED)],
  };
}

/** URLs of buckets are left out: the gateway asks for none, and could not read them. */
function readVideo(video: unknown): MediaLink | InlineImage | undefined {
  const base64 = stringAt(video, "bytesBase64Encoded") ?? stringAt(video, "encodedVideo");
  if (base64 !== undefined) {
    return { mimeType: stringAt(video, "mimeType") ?? stringAt(video, "encoding") ?? "video/mp4", base64 };
  }
  const url = stringAt(video, "uri");
  return url !== undefined && /^https?:/.test(url) ? { url, mimeType: "video/mp4", credential: true } : undefined;
}

function operationName(job: JobHandle): string {
  const name = stringAt(job, "name");
  if (name === undefined) throw new GatewayError("internal", "The job's job does not name an operation.");
  return name;
}
