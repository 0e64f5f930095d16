import { withoutAbsent } from "../../base/without-absent.ts";
import { Fields } from "../../canon/fields.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import { refuse } from "../../dialects/reading/check.ts";
import { defineBodyCheck } from "../check-body.ts";
import type { VideoField } from "../fit-video-call.ts";
import { normalisePrediction } from "../predict/normalise.ts";
import { readPredictImage } from "../predict/read-image.ts";
import { NOT_VIDEOS, refuseOtherTasks } from "../predict/refuse-other-tasks.ts";
import { unreadFields } from "../predict/unread-fields.ts";
import type { VideoCall } from "../video-call.ts";
import type { VideoLink, VideoRequest } from "../video-request.ts";
import { VideoRequestBody } from "./schema.ts";

const check = defineBodyCheck(VideoRequestBody, ({ instances: [instance] }) => {
  if (!instance?.prompt && instance?.image === undefined) {
    refuse("instances[0].prompt", "must be a non-empty string unless instances[0].image is given");
  }
});

/** Reads the body of `:predictLongRunning` (contract 2.1). */
export function decodeVideo(body: unknown): VideoRequest {
  const normal = normalisePrediction(body);
  refuseOtherTasks(normal, NOT_VIDEOS);
  const request = check(normal);
  const notes: FieldNote[] = [];
  const links: VideoLink[] = [];
  const root = new Fields(request);
  const instance = new Fields(request.instances[0]);
  const parameters = new Fields(request.parameters);
  root.skip("instances", "parameters");
  const prompt = instance.string("prompt");
  const call: VideoCall = {
    ...(prompt ? { prompt } : {}),
    ...readFrame(request, "image", links),
    ...readFrame(request, "lastFrame", links),
    count: parameters.number("sampleCount") ?? 1,
    ...readOptions(parameters),
    extras: {},
  };
  instance.skip("image", "lastFrame");
  Object.assign(call, unreadFields(root, instance, parameters, notes));
  return { call, paths: PATHS, links, notes };
}

function readFrame(request: VideoRequestBody, field: VideoLink["field"], links: VideoLink[]): Partial<VideoCall> {
  const frame = request.instances[0]?.[field];
  if (frame === undefined) return {};
  const source = readPredictImage(frame, `instances[0].${field}`);
  if (!("url" in source)) return { [field]: source };
  links.push({ url: source.url, field });
  return {};
}

function readOptions(parameters: Fields): Partial<VideoCall> {
  const aspectRatio = parameters.string("aspectRatio");
  const resolution = parameters.string("resolution");
  const seconds = parameters.number("durationSeconds");
  const audio = parameters.boolean("generateAudio");
  const negativePrompt = parameters.string("negativePrompt");
  const enhancePrompt = parameters.boolean("enhancePrompt");
  const personGeneration = parameters.string("personGeneration");
  const seed = parameters.number("seed");
  const fps = parameters.number("fps");
  return withoutAbsent({
    aspectRatio: aspectRatio === "auto" ? undefined : aspectRatio,
    resolution,
    seconds,
    audio,
    negativePrompt,
    enhancePrompt,
    personGeneration,
    seed,
    fps,
  });
}

const PATHS: Readonly<Record<VideoField, string>> = {
  prompt: "instances[0].prompt",
  image: "instances[0].image",
  lastFrame: "instances[0].lastFrame",
  count: "parameters.sampleCount",
  aspectRatio: "parameters.aspectRatio",
  resolution: "parameters.resolution",
  size: "parameters.resolution",
  source: "instances[0].video",
  seconds: "parameters.durationSeconds",
  audio: "parameters.generateAudio",
  negativePrompt: "parameters.negativePrompt",
  enhancePrompt: "parameters.enhancePrompt",
  personGeneration: "parameters.personGeneration",
  seed: "parameters.seed",
  fps: "parameters.fps",
};
