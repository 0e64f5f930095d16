// https://platform.openai.com/docs/api-reference/batch; facts: openai 7.53.0, resources/batches.d.ts

import { arrayAt, isObject, type JsonObject, objectAt, parseObject, stringAt } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import { findValue } from "../../wire/json-text.ts";
import type { BatchApi, BatchProgress, BatchResult } from "./batch-api.ts";
import { streamedLines } from "./streamed-lines.ts";

const MEGABYTE = 1024 * 1024;
/** How many pages of batches are searched for one whose creation was not confirmed. */
const MAX_PAGES = 10;
const MARKER = "trivium";

/** The codes of lines that were not run. */
const NOT_RUN: Readonly<Record<string, "cancelled" | "expired">> = {
  batch_cancelled: "cancelled",
  batch_expired: "expired",
};

export const OPENAI_BATCHES: BatchApi = {
  endpoints: { chat: "/v1/chat/completions", responses: "/v1/responses", embeddings: "/v1/embeddings" },
  sharedHeaders: [],
  maxLines: 50_000,
  maxBytes: 200 * MEGABYTE,
  line: (id, body, endpoint) => `{"custom_id":"${id}","method":"POST","url":"${endpoint}","body":${body}}`,
  submit: async (host, { marker, endpoint, lines }, beforeCreation) => {
    const content = streamedLines(lines, { before: "", between: "\n", after: "\n" });
    const file = await host.ask({
      method: "POST",
      url: "/files",
      body: {
        streamedForm: {
          fields: [{ name: "purpose", value: "batch" }],
          file: { name: "file", fileName: `${marker}.jsonl`, mimeType: "application/jsonl", ...content },
        },
      },
    });
    const input_file_id = idIn(file.body);
    await beforeCreation();
    const made = await host.ask({
      method: "POST",
      url: "/batches",
      body: { json: { input_file_id, endpoint, completion_window: "24h", metadata: { [MARKER]: marker } } },
    });
    return idIn(made.body);
  },
  find: async (host, { marker }) => {
    let after = "";
    for (let page = 0; page < MAX_PAGES; page++) {
      const { body } = await host.ask({ method: "GET", url: `/batches?limit=100${after}` });
      const batches = arrayAt(body, "data").filter(isObject);
      const found = batches.find((batch) => stringAt(objectAt(batch, "metadata"), MARKER) === marker);
      if (found !== undefined) return { id: idIn(found) };
      const last = stringAt(batches.at(-1), "id");
      if (body?.["has_more"] !== true || last === undefined) return undefined;
      after = `&after=${encodeURIComponent(last)}`;
    }
    return undefined;
  },
  poll: async (host, id) => {
    const { body } = await host.ask({ method: "GET", url: `/batches/${encodeURIComponent(id)}` });
    return progressOf(body);
  },
  cancel: async (host, id) => {
    await host.ask({ method: "POST", url: `/batches/${encodeURIComponent(id)}/cancel`, body: { json: {} } });
  },
  results: async function* (host, files) {
    for (const file of files) {
      const url = `/files/${encodeURIComponent(String(file))}/content`;
      for await (const line of host.lines({ method: "GET", url })) yield resultOf(line);
    }
  },
};

function progressOf(body: JsonObject | undefined): BatchProgress {
  const status = stringAt(body, "status");
  if (status === "failed") {
    const errors = arrayAt(objectAt(body, "errors"), "data").filter(isObject);
    return { state: "failed", reasons: errors.flatMap((error) => stringAt(error, "message") ?? []) };
  }
  if (status !== "completed" && status !== "cancelled" && status !== "expired") return { state: "running" };
  const results = ["output_file_id", "error_file_id"].flatMap((field) => stringAt(body, field) ?? []);
  return { state: "ended", how: status, results };
}

function resultOf(line: string): BatchResult {
  const result = parseObject(line);
  const id = stringAt(result, "custom_id");
  const response = objectAt(result, "response");
  const status = response?.["status_code"];
  const span = findValue(line, ["response", "body"]);
  if (typeof status === "number" && span !== undefined)
    return { id, outcome: { type: "response", status, body: line.slice(span.start, span.end) } };
  const { code, message } = objectAt(result, "error") ?? {};
  const notRun = typeof code === "string" ? NOT_RUN[code] : undefined;
  if (notRun !== undefined) return { id, outcome: { type: notRun } };
  // The request was not answered, for example because the model timed out.
  return { id, outcome: { type: "response", status: 500, body: JSON.stringify({ error: { code, message } }) } };
}

function idIn(body: JsonObject | undefined): string {
  const id = stringAt(body, "id");
  if (id) return id;
  throw new GatewayError("upstream_failed", "The provider's batch API returned no id.");
}
