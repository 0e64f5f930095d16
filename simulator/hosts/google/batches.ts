import { countResults } from "../../batches/count-results.ts";
import { pageOf } from "../../batches/page-of.ts";
import { readLines } from "../../batches/read-lines.ts";
import { type BatchLine, hasEnded, MAX_LINES, type SimulatedBatch } from "../../batches/stored-batches.ts";
import type { Exchange } from "../../exchange.ts";
import { isObject, type Json, type JsonObject, textOr } from "../../json.ts";
import { findModel } from "../../text/find-model.ts";
import { fileForbidden } from "./files.ts";
import { googleError, googleFailure, invalid, modelNotFound } from "./text/errors.ts";

/** The batches of the Gemini API: the collection, one of it, or its cancellation. */
export const BATCHES = /^\/v1(?:beta)?\/batches(?:\/([^/:]+)(:cancel)?)?$/;
/** Where they are created. */
export const BATCH_CREATION = /^\/v1(?:beta)?\/models\/([^/:]+):batchGenerateContent$/;

/** Of requests that are sent inline. */
const MAX_INLINE_BYTES = 20_000_000;
const TYPE = "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch";
const STATES: Readonly<Record<SimulatedBatch["phase"], string>> = {
  validating: "PENDING",
  running: "RUNNING",
  cancelling: "RUNNING",
  completed: "SUCCEEDED",
  cancelled: "CANCELLED",
  expired: "EXPIRED",
  failed: "FAILED",
};
/** Errors in batches have the codes of gRPC. */
const CODES: Readonly<Record<string, number>> = {
  INVALID_ARGUMENT: 3,
  NOT_FOUND: 5,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
};

/** https://ai.google.dev/api/batch-api */
export function createBatch(exchange: Exchange, key: string, model: string): JsonObject {
  const { body, bodyText, headers, state, path } = exchange;
  const given = isObject(body) ? body.batch : undefined;
  const { inputConfig: input, displayName } = isObject(given) ? given : {};
  if (!isObject(input)) throw invalid("The batch has no input_config.");
  if (findModel(model) === undefined) throw modelNotFound("gemini", model, path);
  const { fileName, requests } = input;
  let found: (Json | undefined)[] | undefined;
  if (typeof fileName === "string") {
    const content = state.files.find(fileName, key)?.content;
    if (content === undefined) throw fileForbidden(fileName);
    found = readLines(content);
  } else {
    if (bodyText.length > MAX_INLINE_BYTES) throw invalid("Request payload size exceeds the limit: 20 MB.");
    found = isObject(requests) && Array.isArray(requests.requests) ? requests.requests : [];
  }
  if (found.length === 0) throw invalid("The batch has no requests.");
  if (found.length > MAX_LINES) throw invalid(`The batch has more than ${MAX_LINES} requests.`);
  const lines = found.map((line, index) => lineOf(line, index, model));
  const isFile = typeof fileName === "string";
  const batch = state.batches.create({
    owner: key,
    host: "gemini",
    headers: withKey(headers, key),
    given: { model: `models/${model}`, displayName: textOr(displayName, ""), isFile },
    lines,
    failures: [],
    onEnd: (ended) => {
      if (isFile) writeFile(ended, exchange);
    },
  });
  if (batch === undefined) throw googleError(429, "RESOURCE_EXHAUSTED", "Simulated: too many batches have not ended.");
  return shown(batch);
}

/** The key may have come in the URL. */
function withKey(headers: Headers, key: string): Headers {
  const all = new Headers(headers);
  if (!all.has("authorization")) all.set("x-goog-api-key", key);
  return all;
}

function lineOf(line: Json | undefined, index: number, model: string): BatchLine {
  const { key, metadata, request } = isObject(line) ? line : {};
  if (!isObject(request)) throw invalid(`Request ${index} of the batch has no request.`);
  const { model: named = `models/${model}`, ...body } = request;
  if (named !== `models/${model}`) throw invalid(`Request ${index} of the batch names another model.`);
  // Of inline requests the client's whole metadata comes back.
  const id = isObject(metadata) ? JSON.stringify(metadata) : typeof key === "string" ? JSON.stringify({ key }) : "";
  return { id, path: `/gemini/v1beta/models/${encodeURIComponent(model)}:generateContent`, body: JSON.stringify(body) };
}

/** https://ai.google.dev/api/batch-api */
export function answerBatches(exchange: Exchange, key: string, id?: string, verb?: string): JsonObject {
  const { method, path, url, state } = exchange;
  const notFound = () => googleError(404, "NOT_FOUND", `The requested URL ${path} was not found.`);
  if (id === undefined) {
    if (method !== "GET") throw notFound();
    const query = url.searchParams;
    const page = pageOf(state.batches.of(key, "gemini"), query.get("pageToken"), query.get("pageSize"), 50);
    if (page === undefined) throw invalid("The page token is not valid.");
    const { items, hasMore } = page;
    // In a list the results are missing.
    const operations = items.map((batch) => shown(batch, false));
    return { operations, ...(hasMore ? { nextPageToken: items.at(-1)?.id ?? "" } : {}) };
  }
  const batch = state.batches.find(`batches/${id}`, key);
  if (batch === undefined || batch.host !== "gemini")
    throw googleError(404, "NOT_FOUND", `Batch batches/${id} was not found.`);
  if (verb === undefined && method === "GET") return shown(batch);
  if (verb === undefined && method === "DELETE") {
    state.batches.cancel(batch);
    state.batches.remove(batch);
    return {};
  }
  if (verb === undefined || method !== "POST") throw notFound();
  if (hasEnded(batch)) throw googleError(400, "FAILED_PRECONDITION", `Batch ${batch.id} has already ended.`);
  state.batches.cancel(batch);
  return {};
}

/** The outcome of each line that was run. */
function outcomes(batch: SimulatedBatch): { id: JsonObject; outcome: JsonObject }[] {
  return batch.lines.flatMap(({ id }, index): { id: JsonObject; outcome: JsonObject }[] => {
    const result = batch.results[index];
    if (result === undefined || typeof result === "string") return [];
    const named = id === "" ? {} : (JSON.parse(id) as JsonObject);
    const body = JSON.parse(result.body ?? googleFailure("500", "", "gemini").body) as JsonObject;
    if (result.status === 200 && result.body !== undefined) return [{ id: named, outcome: { response: body } }];
    const { message = "", status, details } = isObject(body.error) ? body.error : {};
    const code = CODES[textOr(status, "")] ?? 2;
    return [{ id: named, outcome: { error: { code, message, ...(details === undefined ? {} : { details }) } } }];
  });
}

function writeFile(batch: SimulatedBatch, { state: { files } }: Exchange): void {
  const lines = outcomes(batch).map(({ id, outcome }) => `${JSON.stringify({ ...id, ...outcome })}\n`);
  const content = lines.join("");
  const about = { owner: batch.owner, host: "gemini" as const, name: batch.id, mimeType: "application/jsonl" };
  const bytes = Buffer.byteLength(content);
  batch.files = { output: files.add({ ...about, purpose: "", bytes, expiresAtMs: undefined, content }).id };
}

function outputOf(batch: SimulatedBatch): JsonObject {
  if (batch.files.output !== undefined) return { responsesFile: batch.files.output };
  const inlinedResponses = outcomes(batch).map(({ id, outcome }) => ({
    ...outcome,
    ...(Object.keys(id).length > 0 ? { metadata: id } : {}),
  }));
  return { inlinedResponses: { inlinedResponses } };
}

function shown(batch: SimulatedBatch, withResults = true): JsonObject {
  const { id: name, given, phase, failures, createdAtMs, endedAtMs } = batch;
  const { total, open, succeeded, failed } = countResults(batch);
  const { model = "", displayName = "" } = given;
  const isEnded = hasEnded(batch);
  const ended = isEnded && phase !== "failed";
  const endTime = new Date(endedAtMs ?? createdAtMs).toISOString();
  const output = ended && withResults ? outputOf(batch) : undefined;
  const metadata: JsonObject = {
    "@type": TYPE,
    model,
    displayName,
    name,
    state: `BATCH_STATE_${STATES[phase]}`,
    createTime: new Date(createdAtMs).toISOString(),
    updateTime: endTime,
    ...(isEnded ? { endTime } : {}),
    batchStats: {
      requestCount: String(total),
      pendingRequestCount: String(open),
      successfulRequestCount: String(succeeded),
      failedRequestCount: String(failed),
    },
    ...(output === undefined ? {} : { output }),
  };
  const message = textOr(failures[0]?.message, "");
  return {
    name,
    metadata,
    ...(isEnded ? { done: true } : {}),
    ...(phase === "failed" ? { error: { code: 3, message } } : {}),
  };
}
