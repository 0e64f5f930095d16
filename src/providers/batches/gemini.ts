// https://ai.google.dev/api/batch-api; facts: @google/genai 2.32.0, dist/index.mjs

import { arrayAt, isObject, type JsonObject, objectAt, parseObject, stringAt } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import { elementTexts, findValue } from "../../wire/json-text.ts";
import type { BatchApi, BatchProgress, BatchResult } from "./batch-api.ts";
import { streamedLines } from "./streamed-lines.ts";

const MAX_PAGES = 10;

/** The API's codes are those of gRPC. */
const STATUSES: Readonly<Record<number, number>> = {
  1: 499,
  3: 400,
  4: 504,
  5: 404,
  7: 403,
  8: 429,
  9: 400,
  13: 500,
  14: 503,
  16: 401,
};

const HOW: Readonly<Record<string, "completed" | "cancelled" | "expired">> = {
  BATCH_STATE_SUCCEEDED: "completed",
  BATCH_STATE_CANCELLED: "cancelled",
  BATCH_STATE_EXPIRED: "expired",
};

export const GEMINI_BATCHES: BatchApi = {
  endpoints: { genai: "generateContent" },
  sharedHeaders: [],
  maxLines: 100_000,
  // Of requests that are sent inline.
  maxBytes: 20_000_000,
  line: (id, body) => `{"request":${body},"metadata":{"key":"${id}"}}`,
  submit: async (host, { marker, model, lines }, beforeCreation) => {
    await beforeCreation();
    const before = `{"batch":{"displayName":"${marker}","inputConfig":{"requests":{"requests":[`;
    const requests = streamedLines(lines, { before, between: ",", after: "]}}}}" });
    const { body } = await host.ask({
      method: "POST",
      url: `/v1beta/models/${encodeURIComponent(model)}:batchGenerateContent`,
      body: { streamed: { contentType: "application/json", ...requests } },
    });
    return nameIn(body);
  },
  find: async (host, { marker }) => {
    let token = "";
    for (let page = 0; page < MAX_PAGES; page++) {
      const { body } = await host.ask({ method: "GET", url: `/v1beta/batches?pageSize=100${token}` });
      const found = arrayAt(body, "operations")
        .filter(isObject)
        .find((batch) => stringAt(objectAt(batch, "metadata"), "displayName") === marker);
      if (found !== undefined) return { id: nameIn(found) };
      const next = stringAt(body, "nextPageToken");
      if (next === undefined) return undefined;
      token = `&pageToken=${encodeURIComponent(next)}`;
    }
    return undefined;
  },
  poll: async (host, id) => {
    const { body, text } = await host.ask({ method: "GET", url: `/v1beta/${id}` });
    return progressOf(body, text);
  },
  cancel: async (host, id) => {
    await host.ask({ method: "POST", url: `/v1beta/${id}:cancel`, body: { json: {} } });
  },
  results: async function* (_host, responses) {
    for (const response of responses) yield resultOf(String(response));
  },
};

function progressOf(body: JsonObject | undefined, text: string): BatchProgress {
  const state = stringAt(objectAt(body, "metadata"), "state") ?? "";
  if (state === "BATCH_STATE_FAILED") {
    const reason = stringAt(objectAt(body, "error"), "message");
    return { state: "failed", reasons: reason === undefined ? [] : [reason] };
  }
  const how = HOW[state];
  if (how === undefined) return { state: "running" };
  const span = findValue(text, ["metadata", "output", "inlinedResponses", "inlinedResponses"]);
  return { state: "ended", how, results: span === undefined ? [] : elementTexts(text.slice(span.start, span.end)) };
}

function resultOf(text: string): BatchResult {
  const parsed = parseObject(text);
  const id = stringAt(objectAt(parsed, "metadata"), "key");
  const span = findValue(text, ["response"]);
  if (span !== undefined)
    return { id, outcome: { type: "response", status: 200, body: text.slice(span.start, span.end) } };
  const error = objectAt(parsed, "error") ?? {};
  const { code } = error;
  const status = typeof code !== "number" ? 500 : code >= 400 ? code : (STATUSES[code] ?? 500);
  return { id, outcome: { type: "response", status, body: JSON.stringify({ error: { ...error, code: status } }) } };
}

/** Names are used in paths: nothing but the form that the API documents. */
function nameIn(body: JsonObject | undefined): string {
  const name = stringAt(body, "name");
  if (name !== undefined && /^batches\/[\w.-]{1,200}$/.test(name)) return name;
  throw new GatewayError("upstream_failed", "The provider's batch API returned no name.");
}
