import type { Exchange } from "../../../exchange.ts";
import type { JsonObject } from "../../../json.ts";
import { chooseOutcome } from "../../../media/choose-outcome.ts";
import { Fields } from "../../../media/fields.ts";
import type { MediaJob } from "../../../media/jobs.ts";
import type { MediaContext } from "../../../media/media-host.ts";
import { isHeldBack, playImmediateOutcome } from "../../../media/play-outcome.ts";
import { names } from "../../../names.ts";
import { jsonBody } from "../read-envelope.ts";
import { GOOGLE_REFUSALS, immediateErrors, noSuchModel } from "../refusals.ts";
import { type GoogleHost, googleError, invalid } from "../text/errors.ts";
import { readVeo, type VeoRequest } from "./veo-request.ts";

const MODELS = /^(?:standard|veo-(?:2\.0|3\.0|3\.1)(?:-fast|-lite)?-generate-(?:\d{3}|preview|exp))$/;
/** The status of google.rpc for what went wrong inside. */
const INTERNAL = 13;
const ID_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";
const ID_LENGTH = 12;

const TYPES = {
  gemini: "type.googleapis.com/google.ai.generativelanguage.v1beta.PredictLongRunningResponse",
  vertex: "type.googleapis.com/cloud.ai.large_models.vision.GenerateVideoResponse",
} as const;

function newId(host: GoogleHost): string {
  if (host === "vertex") return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(ID_LENGTH));
  return [...bytes].map((byte) => ID_LETTERS[byte % ID_LETTERS.length]).join("");
}

export function videoOf(request: VeoRequest, index: number, { makeVideo }: MediaContext): Promise<Uint8Array> {
  return makeVideo({ ...request.video, seed: request.video.seed + index });
}

/** A file of the Gemini API is named after its operation, so no list of files is needed. */
export function fileName(operation: string, index: number): string {
  return `${operation}${index}`;
}

function resourceOf(exchange: Exchange, host: GoogleHost, model: string): string {
  if (host === "gemini") return `models/${model}`;
  const location = /\/(projects\/[^/]+\/locations\/[^/]+)\//.exec(exchange.url.pathname)?.[1];
  return `${location ?? "projects/simulated/locations/us-central1"}/publishers/google/models/${model}`;
}

/** predictLongRunning: takes the job, and names the operation. */
export function startVideo(
  exchange: Exchange,
  context: MediaContext,
  host: GoogleHost,
  model: string,
  caller: string,
): Response {
  exchange.countModel(model);
  if (!MODELS.test(model)) throw noSuchModel(host, model, "predictLongRunning", exchange.url.pathname);
  const read = readVeo(exchange, host, model);
  const outcome = chooseOutcome(read.video.prompt, read.count, exchange, caller);
  const immediate = playImmediateOutcome(outcome, immediateErrors(model, host));
  if (immediate !== undefined) return immediate;
  const indexes = Array.from({ length: read.count }, (_, index) => index);
  const heldBack = indexes.filter((index) => isHeldBack(outcome, index)).length;
  const request: VeoRequest = { ...read, heldBack };
  const job = context.jobs.create({ id: newId(host), host, key: caller, request, outcome });
  return Response.json({ name: `${resourceOf(exchange, host, model)}/operations/${job.id}` });
}

async function vertexVideo(
  { id, request }: MediaJob<VeoRequest>,
  index: number,
  context: MediaContext,
): Promise<JsonObject> {
  const mimeType = "video/mp4";
  if (request.storageUri !== undefined) return { gcsUri: `${request.storageUri}/${id}/sample_${index}.mp4`, mimeType };
  return { bytesBase64Encoded: Buffer.from(await videoOf(request, index, context)).toString("base64"), mimeType };
}

async function responseOf(job: MediaJob<VeoRequest>, host: GoogleHost, context: MediaContext): Promise<JsonObject> {
  const { request } = job;
  const indexes = Array.from({ length: request.count - request.heldBack }, (_, index) => index);
  const reasons = ["The video was held back by the safety filters of the simulator. Support codes: 58061214"];
  const filtered =
    request.heldBack === 0 ? {} : { raiMediaFilteredCount: request.heldBack, raiMediaFilteredReasons: reasons };
  if (host === "gemini") {
    const files = `${context.baseUrl}/gemini/v1beta/files`;
    const generatedSamples = indexes.map((index) => ({
      video: { uri: `${files}/${fileName(job.id, index)}:download?alt=media` },
    }));
    const samples = generatedSamples.length === 0 ? {} : { generatedSamples };
    return { "@type": TYPES.gemini, generateVideoResponse: { ...samples, ...filtered } };
  }
  const videos = await Promise.all(indexes.map((index) => vertexVideo(job, index, context)));
  const shown = videos.length === 0 ? {} : { videos };
  return { "@type": TYPES.vertex, raiMediaFilteredCount: 0, ...shown, ...filtered };
}

/** The current state of an operation, under the requested name. */
export async function showOperation(
  name: string,
  model: string,
  context: MediaContext,
  host: GoogleHost,
  caller: string,
): Promise<Response> {
  const id = name.slice(name.lastIndexOf("/") + 1);
  const job = context.jobs.find<VeoRequest>(host, id, caller);
  if (job === undefined || job.request.model !== model) {
    throw googleError(404, "NOT_FOUND", `The operation ${name} was not found.`);
  }
  if (context.jobs.phase(job) !== "ended") return Response.json({ name });
  if (job.outcome === "fails") {
    const error = { code: INTERNAL, message: "Simulated: the video failed because of an internal error.", details: [] };
    return Response.json({ name, done: true, error });
  }
  return Response.json({ name, done: true, response: await responseOf(job, host, context) });
}

/** Vertex asks for an operation by its name in a body, at the URL of its model. */
export function fetchOperation(
  exchange: Exchange,
  context: MediaContext,
  model: string,
  caller: string,
): Promise<Response> {
  const body = new Fields(jsonBody(exchange), "", names("operationName"), GOOGLE_REFUSALS);
  const name = body.requiredText("operationName");
  const named = /^projects\/[^/]+\/locations\/[^/]+\/publishers\/google\/models\/([^/]+)\/operations\/[^/]+$/.exec(
    name,
  )?.[1];
  if (named === undefined)
    throw body.refuse("operationName", "projects/P/locations/L/publishers/google/models/M/operations/ID");
  if (named !== model) throw invalid(`The operation ${name} is not one of the model ${model}.`);
  return showOperation(name, model, context, "vertex", caller);
}
