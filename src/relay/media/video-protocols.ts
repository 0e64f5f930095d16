import { createHash } from "node:crypto";
import { type JsonObject, stringAt } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import type { Operation, VideoDerivation } from "../../canon/operation.ts";
import { splitForm } from "../../media/images-api/split-form.ts";
import { decodeVideo } from "../../media/predict-long-running/decode-video.ts";
import { operationName } from "../../media/predict-long-running/operation-name.ts";
import type { VideoSource } from "../../media/video-call.ts";
import type { VideoRequest } from "../../media/video-request.ts";
import { DEFAULT_MODEL, decodeCreate } from "../../media/videos-api/decode-create.ts";
import { type DerivedVideo, decodeDerived } from "../../media/videos-api/decode-derived.ts";
import { encodeVideo } from "../../media/videos-api/encode-video.ts";
import { formBody } from "../../media/videos-api/form-body.ts";
import { VIDEO_PATHS } from "../../media/videos-api/paths.ts";
import { operationIdIn } from "../../media/videos-api/video-id.ts";
import type { Gateway } from "../gateway.ts";
import type { EnteredRequest } from "../request/enter-request.ts";
import { inlineImages } from "../request/inline-images.ts";
import { readBody } from "../request/read-body.ts";
import { formFields, freeUpload, isForm, readForm } from "../request/read-form.ts";
import { formText } from "../settle/capture-call.ts";
import type { VideoProtocol } from "./video-relay.ts";

/** Contract 2.1: `:predictLongRunning`. */
export const PREDICT_LONG_RUNNING: VideoProtocol = {
  read: async ({ request, modelInPath = "" }, { memory }, gateway) => {
    const received = await readBody(request, { maxBytes: gateway.snapshot.maxBodyBytes, memory }, gateway);
    const { body } = received;
    return { body, model: modelInPath, sent: received, digested: received.text, decode: () => decodeVideo(body) };
  },
  encode: (operation) => ({ name: operationName(operation.model, operation.id) }),
};

/** `POST /v1/videos`: a form, or JSON. */
export const CREATE_VIDEO: VideoProtocol = {
  read: async ({ request }, entered, gateway) => {
    const { whole, ...read } = await readFields(request, entered, gateway);
    const model = stringAt(whole, "model") ?? DEFAULT_MODEL;
    const inlined = await inlineImages(whole, ["input_reference"], entered, gateway);
    return { ...read, model, namedModel: model, decode: () => decodeCreate(inlined) };
  },
  encode: encodeVideo,
};

/** `POST /v1/videos/{id}/remix`, `/edits` and `/extensions`: made by the provider and the model of the earlier video. */
export const derivedVideo = (kind: VideoDerivation): VideoProtocol => ({
  read: async ({ request, videoInPath }, entered, gateway, operations) => {
    const { whole, ...read } = await readFields(request, entered, gateway);
    const derived = decodeDerived(kind, whole);
    const id = videoInPath ?? derived.videoId ?? "";
    const found = await operations.find(entered.principal, operationIdIn(id) ?? "");
    if (found === undefined) throw videoInPath === undefined ? unknownInBody(id) : videoNotFound(id);
    const path = videoInPath === undefined ? "video.id" : "video_id";
    const decoded = requestFor(found, kind, derived, path);
    return {
      ...read,
      digested: `${kind} ${found.id} ${read.digested}`,
      model: found.model,
      namedModel: found.job.namedModel,
      decode: () => decoded,
    };
  },
  encode: encodeVideo,
});

/** The whole body, and the part of it that addresses the gateway. */
async function readFields(request: Request, { memory }: EnteredRequest, gateway: Gateway) {
  if (!isForm(request)) {
    const received = await readBody(request, { maxBytes: gateway.snapshot.maxBodyBytes, memory }, gateway);
    return { whole: received.body, body: received.body, sent: received, digested: received.text };
  }
  const { form, bytes } = await readForm(request, memory, gateway);
  const { routing, rest } = splitForm(form);
  const whole = formBody(rest);
  const text = formText(form);
  // The boundary between the parts differs from one request to the next.
  const digested = createHash("sha256").update(JSON.stringify(whole)).digest("hex");
  const fields: JsonObject = formFields(form);
  const isGuarded = gateway.snapshot.guards !== undefined;
  if (!isGuarded) freeUpload(bytes);
  return { whole, body: routing, fields, sent: { text }, digested, ...(isGuarded ? { form } : {}) };
}

function requestFor(
  { id, credential, state, job, parts }: Operation,
  kind: VideoDerivation,
  { prompt, seconds }: DerivedVideo,
  path: string,
): VideoRequest {
  const made = parts.find((part) => part.videos.length > 0);
  if (state !== "done" || made?.providerJob === undefined) {
    const message = `${path}: This video is not completed. Wait until its status is "completed".`;
    throw new GatewayError("invalid_request", message, { path, code: "video_not_completed" });
  }
  const length = made.seconds ?? job.seconds;
  const source: VideoSource = { kind, id, job: made.providerJob, credential, seconds: length };
  const call = {
    prompt,
    count: 1,
    seconds: seconds ?? length,
    resolution: made.resolution ?? job.resolution,
    audio: made.audio ?? job.audio,
    source,
    extras: {},
    ...(job.size === undefined ? {} : { size: job.size }),
  };
  return { call, paths: { ...VIDEO_PATHS, source: path }, links: [], notes: [] };
}

/** Also for a video that the caller may not see (S09). */
export function videoNotFound(id: string): GatewayError {
  const message = `No video "${id.slice(0, 80)}" was found. Only the project that created a video can see it, until it expires.`;
  return new GatewayError("not_found", message, { path: "video_id", code: "video_not_found" });
}

const unknownInBody = (id: string): GatewayError =>
  new GatewayError("invalid_request", videoNotFound(id).message, { path: "video.id", code: "video_not_found" });
