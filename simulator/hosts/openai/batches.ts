import { countResults } from "../../batches/count-results.ts";
import { pageOf } from "../../batches/page-of.ts";
import { readLines } from "../../batches/read-lines.ts";
import { type BatchLine, hasEnded, MAX_LINES, type SimulatedBatch } from "../../batches/stored-batches.ts";
import type { Exchange } from "../../exchange.ts";
import type { HostError } from "../../host-error.ts";
import { isObject, type JsonObject, textOr } from "../../json.ts";
import { invalid, openaiError, openaiFailure } from "./text/errors.ts";

/** The batches of this host: the collection, one of it, or its cancellation. */
export const BATCHES = /^\/v1\/batches(?:\/([^/]+)(\/cancel)?)?$/;

type Host = "openai" | "azure-openai";

const ENDPOINTS: Readonly<Record<Host, readonly string[]>> = {
  openai: ["/v1/chat/completions", "/v1/responses", "/v1/embeddings", "/v1/completions", "/v1/moderations"],
  "azure-openai": ["/v1/chat/completions", "/v1/embeddings", "/chat/completions", "/embeddings"],
};
const MAX_BYTES = 100 * 1024 * 1024;
const MAX_FAILURES = 20;
const MAX_METADATA = 16;

/** https://platform.openai.com/docs/api-reference/batch. `root` is what the paths of lines begin with, before the version. */
export function answerBatches(
  exchange: Exchange,
  { key, host, root, id, isCancel }: { key: string; host: Host; root: string; id?: string; isCancel?: boolean },
): JsonObject {
  const { method, path, url, state } = exchange;
  const unknown = (): HostError => openaiError(404, `Invalid URL (${method} ${path})`);
  if (id === undefined) {
    if (method === "POST") return shown(create(exchange, key, host, root));
    if (method !== "GET") throw unknown();
    const query = url.searchParams;
    const page = pageOf(state.batches.of(key, host), query.get("after"), query.get("limit"));
    if (page === undefined) throw openaiError(404, `No batch found with id '${query.get("after")}'.`);
    const { items, hasMore } = page;
    const ends = { first_id: items[0]?.id ?? null, last_id: items.at(-1)?.id ?? null };
    return { object: "list", data: items.map(shown), ...ends, has_more: hasMore };
  }
  const batch = state.batches.find(id, key);
  if (batch === undefined || batch.host !== host) throw openaiError(404, `No batch found with id '${id}'.`);
  if (method !== (isCancel ? "POST" : "GET")) throw unknown();
  if (isCancel && hasEnded(batch))
    throw openaiError(409, `Cannot cancel a batch with status '${batch.phase}'.`, { param: "batch_id" });
  if (isCancel) state.batches.cancel(batch);
  return shown(batch);
}

function create(exchange: Exchange, key: string, host: Host, root: string): SimulatedBatch {
  const { body, headers, state } = exchange;
  if (!isObject(body)) throw invalid("We could not parse the JSON body of your request.", null, null);
  const { input_file_id: file, endpoint, completion_window: window, metadata = null } = body;
  if (typeof file !== "string") throw invalid("Missing required parameter: 'input_file_id'.", "input_file_id", null);
  if (typeof endpoint !== "string" || !ENDPOINTS[host].includes(endpoint))
    throw invalid(`Invalid value: 'endpoint' must be one of ${ENDPOINTS[host].join(", ")}.`, "endpoint", null);
  if (window !== "24h") throw invalid("Invalid value: 'completion_window' must be '24h'.", "completion_window", null);
  const isPlain = isObject(metadata) && Object.values(metadata).every((value) => typeof value === "string");
  if (metadata !== null && !(isPlain && Object.keys(metadata).length <= MAX_METADATA))
    throw invalid(`Invalid value: 'metadata' must have at most ${MAX_METADATA} texts.`, "metadata", null);
  const found = state.files.find(file, key);
  if (found === undefined) throw openaiError(404, `No such File object: ${file}`, { param: "input_file_id" });
  if (found.purpose !== "batch")
    throw invalid(`File ${file} has the purpose '${found.purpose}', not 'batch'.`, "input_file_id", null);
  if (found.bytes > MAX_BYTES || found.content === undefined)
    throw invalid(`The content of file ${file} is too large, or is no longer there.`, "input_file_id", null);
  const { lines, failures } = linesOf(found.content, endpoint, root);
  const batch = state.batches.create({
    owner: key,
    host,
    headers,
    given: { endpoint, input_file_id: file, completion_window: window, metadata },
    lines,
    failures,
    onEnd: (ended) => writeFiles(ended, exchange),
  });
  if (batch !== undefined) return batch;
  throw openaiError(429, "Too many batches are enqueued. Wait until some have ended.", {
    type: "token_limit_exceeded",
    code: "token_limit_exceeded",
  });
}

/** What is wrong with lines is found while the batch is being validated. */
function linesOf(content: string, endpoint: string, root: string): { lines: BatchLine[]; failures: JsonObject[] } {
  const lines: BatchLine[] = [];
  const failures: JsonObject[] = [];
  const fail = (line: number | null, code: string, message: string, param: string | null = null): void => {
    if (failures.length < MAX_FAILURES) failures.push({ code, message, param, line });
  };
  const ids = new Set<string>();
  const read = readLines(content);
  if (read.length === 0) fail(null, "empty_file", "The input file is empty.");
  if (read.length > MAX_LINES) fail(null, "too_many_tasks", `The input file has more than ${MAX_LINES} requests.`);
  const path = root + (endpoint.startsWith("/v1/") ? "" : "/v1") + endpoint;
  for (const [index, line] of read.slice(0, MAX_LINES).entries()) {
    const number = index + 1;
    if (line === undefined) {
      fail(number, "invalid_json_line", "This line is not parseable as valid JSON.");
      continue;
    }
    const { custom_id: id, method, url, body } = line;
    if (typeof id !== "string" || id === "") fail(number, "missing_required_parameter", "Missing 'custom_id'.");
    else if (ids.has(id)) fail(number, "duplicate_custom_id", `The custom_id '${id}' is used twice.`);
    else ids.add(id);
    if (method !== "POST") fail(number, "invalid_method", "The method must be POST.", "method");
    if (url !== endpoint) fail(number, "mismatched_url", `The url must be ${endpoint}.`, "url");
    if (!isObject(body)) fail(number, "missing_required_parameter", "Missing 'body'.", "body");
    else if (body.stream === true) fail(number, "invalid_request", "Batches cannot stream.", "body.stream");
    lines.push({ id: textOr(id, ""), path, body: JSON.stringify(body ?? null) });
  }
  return { lines, failures };
}

/** Writes what succeeded to one file, and what did not to another. */
function writeFiles(batch: SimulatedBatch, { state: { files } }: Exchange): void {
  const good: string[] = [];
  const bad: string[] = [];
  for (const [index, { id: custom_id }] of batch.lines.entries()) {
    const result = batch.results[index] ?? "cancelled";
    const about = { id: `batch_req_${batch.id.slice("batch_".length)}${index}`, custom_id };
    if (typeof result === "string") {
      const message = `This request was not run: the batch ${result === "expired" ? "expired" : "was cancelled"}.`;
      bad.push(JSON.stringify({ ...about, response: null, error: { code: `batch_${result}`, message } }));
      continue;
    }
    const body: unknown = JSON.parse(result.body ?? openaiFailure("500", "").body);
    const response = { status_code: result.status, request_id: `req_${about.id}`, body };
    (result.status === 200 ? good : bad).push(JSON.stringify({ ...about, response, error: null }));
  }
  const write = (lines: readonly string[], name: string): string | undefined => {
    if (lines.length === 0) return undefined;
    const content = `${lines.join("\n")}\n`;
    const file = { owner: batch.owner, host: "openai" as const, name: `${batch.id}_${name}.jsonl`, content };
    const about = { mimeType: "application/jsonl", purpose: "batch_output", expiresAtMs: undefined };
    return files.add({ ...file, ...about, bytes: Buffer.byteLength(content) }).id;
  };
  const output = write(good, "output");
  const error = write(bad, "error");
  batch.files = { ...(output ? { output } : {}), ...(error ? { error } : {}) };
}

const seconds = (ms: number): number => Math.floor(ms / 1000);

function shown(batch: SimulatedBatch): JsonObject {
  const { id, given, phase, files, failures, createdAtMs, expiresAtMs, startedAtMs, cancelledAtMs, endedAtMs } = batch;
  const { total, succeeded, failed } = countResults(batch);
  return {
    id,
    object: "batch",
    ...given,
    status: phase === "running" ? "in_progress" : phase,
    errors: phase === "failed" ? { object: "list", data: [...failures] } : null,
    output_file_id: files.output ?? null,
    error_file_id: files.error ?? null,
    created_at: seconds(createdAtMs),
    expires_at: seconds(expiresAtMs),
    ...(startedAtMs === undefined ? {} : { in_progress_at: seconds(startedAtMs) }),
    ...(cancelledAtMs === undefined ? {} : { cancelling_at: seconds(cancelledAtMs) }),
    ...(hasEnded(batch) && endedAtMs !== undefined ? { [`${phase}_at`]: seconds(endedAtMs) } : {}),
    request_counts: { total, completed: succeeded, failed },
  };
}
