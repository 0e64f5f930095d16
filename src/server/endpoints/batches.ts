import { type JsonObject, objectAt, stringAt } from "../../base/json.ts";
import { Type } from "../../base/type.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { Batch, BatchState } from "../../batches/batch.ts";
import { objectId } from "../../objects/object-id.ts";
import { keptHeaders, OF_BATCH } from "../../relay/derived/kept-headers.ts";
import { readSmallBody } from "../../relay/request/read-body.ts";
import { CHAT_ENDPOINTS } from "../batches/batch-forms.ts";
import { incomingOf } from "../incoming-request.ts";
import { noSuchObject } from "../no-such-object.ts";
import { BatchAnswer, BatchListAnswer } from "../openapi/batch-answers.ts";
import { json } from "../openapi/operation.ts";
import type { Handler } from "../routed-request.ts";
import { wrongField } from "../wrong-field.ts";
import type { ClientEndpoint } from "./client-endpoint.ts";
import { readLimit } from "./file-forms.ts";
import { listGenaiBatches, showGenaiBatch } from "./genai-batches.ts";
import { ownerOf } from "./owner-of.ts";
import { dropInPath } from "./paths.ts";
import { batchIdOf, withBatch } from "./with-batch.ts";
import { withCaller } from "./with-caller.ts";

const MAX_BODY_BYTES = 1024 * 1024;
const DAY_MS = 24 * 60 * 60_000;

export const createBatch: ClientEndpoint = {
  method: "POST",
  paths: dropInPath("/v1/batches"),
  id: "createBatch",
  summary: "Run the requests of a file in the background",
  dialect: "chat",
  request: Type.Object(
    {
      input_file_id: Type.String(),
      endpoint: Type.Enum([...CHAT_ENDPOINTS]),
      completion_window: Type.String({ pattern: "^[0-9]+[smh]$" }),
      metadata: Type.Optional(Type.Record(Type.String(), Type.String())),
    },
    { title: "BatchRequest" },
  ),
  answers: [json(BatchAnswer, "The batch. Its input is checked before any of it runs.")],
  handle: withCaller(async (principal, routed, { gateway }) => {
    const body = await readSmallBody(routed.request, MAX_BODY_BYTES, principal, gateway);
    const headers = keptHeaders(incomingOf(routed), principal, OF_BATCH, gateway);
    const endpoint = stringAt(body, "endpoint") ?? "";
    if (!CHAT_ENDPOINTS.some((known) => known === endpoint)) {
      throw wrongField("endpoint", `must be one of ${CHAT_ENDPOINTS.join(", ")}`);
    }
    const window = stringAt(body, "completion_window") ?? "";
    const inputId = stringAt(body, "input_file_id") ?? "";
    const input = await gateway.uploads.find(principal, inputId);
    if (input === undefined) {
      throw wrongField("input_file_id", `names no file that this key may use: ${JSON.stringify(inputId.slice(0, 80))}`);
    }
    const batch = await gateway.batches.create(ownerOf(principal, routed), {
      form: "chat",
      endpoint,
      window,
      windowMs: readWindow(window),
      inputId: input.id,
      client: readMetadata(body),
      headers,
    });
    return Response.json(encode(batch));
  }),
};

export const listBatches: ClientEndpoint = {
  method: "GET",
  paths: dropInPath("/v1/batches"),
  id: "listBatches",
  summary: "List batches, newest first",
  dialect: "chat",
  shared: true,
  answers: [json(BatchListAnswer, "A page of batches.")],
  handle: inFormOf(
    listGenaiBatches,
    withCaller(async (principal, { query }, { gateway }) => {
      const limit = readLimit(query.get("limit"), "limit", { most: 100, unsaid: 20 });
      const page = { after: query.get("after") ?? undefined, limit, order: "desc" as const };
      const { batches, hasMore } = await gateway.batches.list(principal, page);
      const data = batches.map(encode);
      return Response.json({
        object: "list",
        data,
        first_id: data[0]?.id ?? null,
        last_id: data.at(-1)?.id ?? null,
        has_more: hasMore,
      });
    }),
  ),
};

export const showBatch: ClientEndpoint = {
  method: "GET",
  paths: dropInPath("/v1/batches/{id}"),
  id: "getBatch",
  summary: "Show the state of a batch",
  dialect: "chat",
  shared: true,
  parameters: ["batch-id"],
  answers: [json(BatchAnswer, "The batch.")],
  handle: inFormOf(
    showGenaiBatch,
    withBatch(async (batch) => Response.json(encode(batch))),
  ),
};

/** Newer SDKs of another vendor use the same paths, and are recognised by their headers. */
function inFormOf(other: ClientEndpoint, own: Handler): Handler {
  return (routed, context) => (routed.dialect.name === other.dialect ? other.handle : own)(routed, context);
}

export const cancelBatch: ClientEndpoint = {
  method: "POST",
  paths: dropInPath("/v1/batches/{id}/cancel"),
  id: "cancelBatch",
  summary: "Cancel a batch; requests that are running are finished",
  dialect: "chat",
  parameters: ["batch-id"],
  answers: [json(BatchAnswer, "The batch.")],
  handle: withCaller(async (principal, routed, { gateway }) => {
    const batch = await gateway.batches.cancel(principal, batchIdOf(routed));
    if (batch === undefined) throw noSuchObject("batch", batchIdOf(routed));
    return Response.json(encode(batch));
  }),
};

const seconds = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : Math.floor(ms / 1000));

function encode(batch: Batch) {
  const { id, endpoint, state, counts, window, inputId, outputId, errorId, errors, at, client } = batch;
  const fileId = (random: string | undefined) => (random === undefined ? undefined : objectId("file", "chat", random));
  const moment = (of: BatchState) => seconds(at[of]);
  return withoutAbsent({
    id: objectId("batch", "chat", id),
    object: "batch",
    endpoint,
    errors: errors && {
      object: "list",
      data: errors.map(({ code, message, line }) => ({ code, message, line: line ?? null, param: null })),
    },
    input_file_id: fileId(inputId),
    completion_window: window,
    status: state,
    output_file_id: fileId(outputId),
    error_file_id: fileId(errorId),
    created_at: Math.floor(batch.createdAtMs / 1000),
    in_progress_at: moment("in_progress"),
    expires_at: seconds(batch.deadlineAtMs),
    finalizing_at: moment("finalizing"),
    completed_at: moment("completed"),
    failed_at: moment("failed"),
    expired_at: moment("expired"),
    cancelling_at: moment("cancelling"),
    cancelled_at: moment("cancelled"),
    request_counts: {
      total: counts.total,
      completed: counts.succeeded,
      failed: counts.failed + counts.expired + counts.cancelled,
    },
    metadata: client ?? null,
  });
}

const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

function readWindow(written: string): number {
  const [, count = "", unit = ""] = /^(\d{1,6})([smh])$/.exec(written) ?? [];
  const windowMs = Number(count) * (UNITS_MS[unit] ?? 0);
  if (windowMs > 0 && windowMs <= DAY_MS) return windowMs;
  throw wrongField("completion_window", "must be a time up to 24h, such as 30m or 24h");
}

function readMetadata(body: JsonObject): Record<string, string> | undefined {
  const metadata = objectAt(body, "metadata");
  if (metadata === undefined) return undefined;
  const entries = Object.entries(metadata);
  const isValid = entries.every(([key, value]) => key.length <= 64 && typeof value === "string" && value.length <= 512);
  if (!isValid || entries.length > 16) throw wrongField("metadata", "must have at most 16 short texts");
  return metadata as Record<string, string>;
}
