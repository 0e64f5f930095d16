import { countResults } from "../../batches/count-results.ts";
import { pageOf } from "../../batches/page-of.ts";
import { type BatchLine, hasEnded, MAX_LINES, type SimulatedBatch } from "../../batches/stored-batches.ts";
import type { Exchange } from "../../exchange.ts";
import { isObject, type Json, type JsonObject } from "../../json.ts";
import { anthropicError, anthropicFailure, invalid } from "./text/errors.ts";

/** The batches of this host: the collection, one of it, its cancellation or its results. */
export const BATCHES = /^\/v1\/messages\/batches(?:\/([^/]+)(\/cancel|\/results)?)?$/;

const PATH = "/anthropic/v1/messages";
const CUSTOM_ID = /^[a-zA-Z0-9_-]{1,64}$/;

/** https://platform.claude.com/docs/en/api/creating-message-batches */
export function answerBatches(exchange: Exchange, key: string, id?: string, verb?: string): Response {
  const { method, url, state } = exchange;
  const { batches } = state;
  if (id === undefined && method === "POST") return Response.json(shown(create(exchange, key), url));
  if (id === undefined && method === "GET") {
    const query = url.searchParams;
    const page = pageOf(batches.of(key, "anthropic"), query.get("after_id"), query.get("limit"));
    if (page === undefined) throw invalid("after_id", "No such message batch");
    const { items, hasMore } = page;
    const ends = { first_id: items[0]?.id ?? null, last_id: items.at(-1)?.id ?? null };
    return Response.json({ data: items.map((one) => shown(one, url)), has_more: hasMore, ...ends });
  }
  const batch = id === undefined ? undefined : batches.find(id, key);
  if (batch === undefined || batch.host !== "anthropic")
    throw anthropicError(404, "not_found_error", `Message batch not found: ${id}`);
  if (verb === "/results" && method === "GET") {
    if (!hasEnded(batch)) throw anthropicError(404, "not_found_error", "Results are not available: it has not ended.");
    return new Response(resultsOf(batch), { headers: { "content-type": "application/x-jsonl" } });
  }
  if (verb === "/cancel" && method === "POST") {
    if (hasEnded(batch)) throw invalid("", `Batch ${batch.id} cannot be canceled because it has finished processing.`);
    batches.cancel(batch);
    return Response.json(shown(batch, url));
  }
  if (verb === undefined && method === "GET") return Response.json(shown(batch, url));
  if (verb !== undefined || method !== "DELETE") throw anthropicError(404, "not_found_error", "Not Found");
  if (!hasEnded(batch)) throw invalid("", `Batch ${batch.id} cannot be deleted while it is being processed.`);
  batches.remove(batch);
  return Response.json({ id: batch.id, type: "message_batch_deleted" });
}

function create({ body, headers, state }: Exchange, key: string): SimulatedBatch {
  const requests = isObject(body) ? body.requests : undefined;
  if (!Array.isArray(requests)) throw invalid("requests", "Field required");
  if (requests.length === 0) throw invalid("requests", "List should have at least 1 item");
  if (requests.length > MAX_LINES) throw invalid("requests", `List should have at most ${MAX_LINES} items`);
  const lines = requests.map(lineOf);
  if (new Set(lines.map(({ id }) => id)).size < lines.length) throw invalid("requests", "custom_id must be unique");
  const batch = state.batches.create({ owner: key, host: "anthropic", headers, given: {}, lines, failures: [] });
  if (batch !== undefined) return batch;
  throw anthropicError(429, "rate_limit_error", "Simulated: too many batches have not ended.", { "retry-after": "1" });
}

function lineOf(request: Json, index: number): BatchLine {
  const at = `requests.${index}`;
  const { custom_id: id, params } = isObject(request) ? request : {};
  if (typeof id !== "string" || !CUSTOM_ID.test(id))
    throw invalid(`${at}.custom_id`, `String should match pattern '${CUSTOM_ID.source}'`);
  if (!isObject(params)) throw invalid(`${at}.params`, "Field required");
  if (params.stream === true) throw invalid(`${at}.params.stream`, "Streaming is not supported in batches");
  return { id, path: PATH, body: JSON.stringify(params) };
}

function resultsOf(batch: SimulatedBatch): string {
  const lines = batch.lines.map(({ id: custom_id }, index) => {
    const result = batch.results[index] ?? (batch.phase === "failed" ? { status: 500, body: undefined } : "canceled");
    if (typeof result === "string")
      return { custom_id, result: { type: result === "expired" ? "expired" : "canceled" } };
    const body: unknown = JSON.parse(result.body ?? anthropicFailure("500", "").body);
    const isGood = result.status === 200 && result.body !== undefined;
    return { custom_id, result: isGood ? { type: "succeeded", message: body } : { type: "errored", error: body } };
  });
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

const dateOf = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString());

function shown(batch: SimulatedBatch, url: URL): JsonObject {
  const { id, phase, createdAtMs, expiresAtMs, cancelledAtMs, endedAtMs } = batch;
  const { total, open, succeeded, failed, cancelled, expired } = countResults(batch);
  const isEnded = hasEnded(batch);
  const before = { processing: total, succeeded: 0, errored: 0, canceled: 0, expired: 0 };
  // The counts of results are only shown at the end.
  const counts = {
    processing: 0,
    succeeded,
    errored: failed + (phase === "failed" ? open : 0),
    canceled: cancelled,
    expired,
  };
  return {
    id,
    type: "message_batch",
    processing_status: isEnded ? "ended" : phase === "cancelling" ? "canceling" : "in_progress",
    request_counts: isEnded ? counts : before,
    created_at: dateOf(createdAtMs),
    expires_at: dateOf(expiresAtMs),
    cancel_initiated_at: dateOf(cancelledAtMs),
    ended_at: isEnded ? dateOf(endedAtMs) : null,
    archived_at: null,
    results_url: isEnded ? `${url.origin}${PATH}/batches/${id}/results` : null,
  };
}
