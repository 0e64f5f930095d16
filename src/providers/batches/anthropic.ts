// https://platform.claude.com/docs/en/api/creating-message-batches; facts: @anthropic-ai/sdk 1.8.0, resources/messages/batches.d.ts

import { arrayAt, isObject, type JsonObject, objectAt, parseObject, stringAt } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import { findValue } from "../../wire/json-text.ts";
import type { BatchApi, BatchHost, BatchResult } from "./batch-api.ts";
import { streamedLines } from "./streamed-lines.ts";

const MEGABYTE = 1024 * 1024;
const VERSION = { "anthropic-version": "2023-06-01" };
const MAX_PAGES = 10;
/** How much the clocks of the gateway and the host may differ. */
const CLOCK_SKEW_MS = 5 * 60_000;

/** The status that a call would have been answered with. */
const STATUSES: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

const batchPath = (id: string): string => `/v1/messages/batches/${encodeURIComponent(id)}`;

export const ANTHROPIC_BATCHES: BatchApi = {
  endpoints: { messages: "/v1/messages" },
  sharedHeaders: ["anthropic-version", "anthropic-beta"],
  maxLines: 100_000,
  maxBytes: 256 * MEGABYTE,
  line: (id, body) => `{"custom_id":"${id}","params":${body}}`,
  submit: async (host, { headers, lines }, beforeCreation) => {
    await beforeCreation();
    const requests = streamedLines(lines, { before: '{"requests":[', between: ",", after: "]}" });
    const { body } = await host.ask({
      method: "POST",
      url: "/v1/messages/batches",
      headers: { ...VERSION, ...headers },
      body: { streamed: { contentType: "application/json", ...requests } },
    });
    const id = stringAt(body, "id");
    if (id) return id;
    throw new GatewayError("upstream_failed", "The provider's batch API returned no id.");
  },
  // A batch has no field for a marker; only the ids of its lines show which one it is, once it has ended.
  find: async (host, { marker, count, sentAtMs, isOther }) => {
    let isUnclear = false;
    for await (const batch of batchesSince(host, sentAtMs - CLOCK_SKEW_MS)) {
      const id = stringAt(batch, "id");
      if (id === undefined || linesOf(batch) !== count || (await isOther(id))) continue;
      if (stringAt(batch, "processing_status") !== "ended") isUnclear = true;
      else if (await hasMarker(host, id, marker)) return { id };
    }
    return isUnclear ? "unclear" : undefined;
  },
  poll: async (host, id) => {
    const { body } = await host.ask({ method: "GET", url: batchPath(id), headers: VERSION });
    if (stringAt(body, "processing_status") !== "ended") return { state: "running" };
    return { state: "ended", how: "completed", results: [id] };
  },
  cancel: async (host, id) => {
    await host.ask({ method: "POST", url: `${batchPath(id)}/cancel`, headers: VERSION, body: { json: {} } });
  },
  results: async function* (host, ids) {
    for (const id of ids) {
      const url = `${batchPath(String(id))}/results`;
      for await (const line of host.lines({ method: "GET", url, headers: VERSION })) yield resultOf(line);
    }
  },
};

/** Newest first. */
async function* batchesSince(host: BatchHost, sinceMs: number): AsyncGenerator<JsonObject> {
  let after = "";
  for (let page = 0; page < MAX_PAGES; page++) {
    const url = `/v1/messages/batches?limit=100${after}`;
    const { body } = await host.ask({ method: "GET", url, headers: VERSION });
    for (const batch of arrayAt(body, "data").filter(isObject)) {
      if (Date.parse(stringAt(batch, "created_at") ?? "") >= sinceMs) yield batch;
    }
    const last = stringAt(body, "last_id");
    if (body?.["has_more"] !== true || last === undefined) return;
    after = `&after_id=${encodeURIComponent(last)}`;
  }
}

const linesOf = (batch: JsonObject): number =>
  Object.values(objectAt(batch, "request_counts") ?? {}).reduce<number>(
    (sum, count) => sum + (typeof count === "number" ? count : 0),
    0,
  );

async function hasMarker(host: BatchHost, id: string, marker: string): Promise<boolean> {
  for await (const line of host.lines({ method: "GET", url: `${batchPath(id)}/results`, headers: VERSION }))
    return stringAt(parseObject(line), "custom_id")?.startsWith(`${marker}-`) === true;
  return false;
}

function resultOf(line: string): BatchResult {
  const parsed = parseObject(line);
  const id = stringAt(parsed, "custom_id");
  const result = objectAt(parsed, "result");
  const type = stringAt(result, "type");
  if (type === "canceled") return { id, outcome: { type: "cancelled" } };
  if (type === "expired") return { id, outcome: { type: "expired" } };
  const span = findValue(line, ["result", type === "succeeded" ? "message" : "error"]);
  const body = span === undefined ? "{}" : line.slice(span.start, span.end);
  if (type === "succeeded") return { id, outcome: { type: "response", status: 200, body } };
  const error = stringAt(objectAt(objectAt(result, "error"), "error"), "type") ?? "";
  return { id, outcome: { type: "response", status: STATUSES[error] ?? 500, body } };
}
