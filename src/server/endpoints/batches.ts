import { sharingOf } from "../../access/principal.ts";
import { type JsonObject, objectAt, stringAt } from "../../base/json.ts";
import { Type } from "../../base/type.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { Batch, BatchState } from "../../batches/batch.ts";
import { ENDED } from "../../batches/batches.ts";
import { GatewayError } from "../../canon/error.ts";
import { objectId } from "../../objects/object-id.ts";
import { readSmallBody } from "../../relay/request/read-body.ts";
import { CHAT_ENDPOINTS } from "../batches/batch-forms.ts";
import { storeRequests } from "../batches/store-requests.ts";
import { mayDelete } from "../may-delete.ts";
import { BatchAnswer, BatchListAnswer } from "../openapi/batch-answers.ts";
import { json } from "../openapi/operation.ts";
import type { Handler, RoutedRequest, ServerContext } from "../routed-request.ts";
import type { ClientEndpoint } from "./client-endpoint.ts";
import { readLimit } from "./file-forms.ts";
import { listGenaiBatches, showGenaiBatch } from "./genai-batches.ts";
import { dropInPath } from "./paths.ts";
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
  handle: withCaller(async (principal, { request }, { gateway }) => {
    const body = await readSmallBody(request, MAX_BODY_BYTES, principal, gateway);
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
    const batch = await gateway.batches.create(
      { ...principal, share: sharingOf(principal) },
      {
        form: "chat",
        endpoint,
        window,
        windowMs: readWindow(window),
        inputId: input.id,
        client: readMetadata(body),
      },
    );
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
  handle: orInGenai(listGenaiBatches, async (principal, { query }, { gateway }) => {
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
  handle: orInGenai(showGenaiBatch, async (principal, routed, { gateway }) => {
    const batch = await gateway.batches.find(principal, idOf(routed));
    if (batch === undefined) throw noSuchBatch(routed);
    return Response.json(encode(batch));
  }),
};

/** Two protocols have the same path; a header shows whose client it is. */
function orInGenai({ handle }: ClientEndpoint, own: Parameters<typeof withCaller>[0]): Handler {
  const inChat = withCaller(own);
  return (routed, context) => (routed.dialect.name === "genai" ? handle(routed, context) : inChat(routed, context));
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
    const batch = await gateway.batches.cancel(principal, idOf(routed));
    if (batch === undefined) throw noSuchBatch(routed);
    return Response.json(encode(batch));
  }),
};

function withBatch(
  handle: (batch: Batch, routed: RoutedRequest, context: ServerContext) => Promise<Response>,
): Handler {
  return withCaller(async (principal, routed, context) => {
    const batch = await context.gateway.batches.find(principal, idOf(routed));
    if (batch === undefined) throw noSuchBatch(routed);
    return handle(batch, routed, context);
  });
}

const idOf = ({ parameters }: RoutedRequest): string => parameters["id"] ?? "";

const noSuchBatch = (routed: RoutedRequest): GatewayError =>
  new GatewayError(
    "not_found",
    `There is no batch ${JSON.stringify(idOf(routed).slice(0, 100))}, or this key may not use it.`,
    { code: "batch_not_found" },
  );

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

const wrongField = (path: string, problem: string): GatewayError =>
  new GatewayError("invalid_request", `${path} ${problem}.`, { path });

// Anthropic's form.

export const createMessageBatch: ClientEndpoint = {
  method: "POST",
  paths: dropInPath("/v1/messages/batches"),
  id: "createMessageBatch",
  summary: "Run messages in the background",
  dialect: "messages",
  request: Type.Object(
    { requests: Type.Array(Type.Object({ custom_id: Type.String(), params: Type.Object({}) })) },
    { title: "MessageBatchRequest" },
  ),
  answers: [json(BatchAnswer, "The batch.")],
  handle: withCaller(async (principal, { request }, { gateway }) => {
    const blob = await storeRequests(request, gateway);
    try {
      const terms = { form: "messages", endpoint: "/v1/messages", window: "24h", windowMs: DAY_MS, blobs: [blob] };
      const batch = await gateway.batches.create({ ...principal, share: sharingOf(principal) }, terms);
      return Response.json(encodeMessages(batch, gateway.publicUrl()));
    } catch (thrown) {
      await gateway.uploads.discard([blob]).catch(() => undefined);
      throw thrown;
    }
  }),
};

export const listMessageBatches: ClientEndpoint = {
  method: "GET",
  paths: dropInPath("/v1/messages/batches"),
  id: "listMessageBatches",
  summary: "List batches, newest first",
  dialect: "messages",
  answers: [json(BatchListAnswer, "A page of batches.")],
  handle: withCaller(async (principal, { query }, { gateway }) => {
    const limit = readLimit(query.get("limit"), "limit", { most: 1_000, unsaid: 20 });
    const page = { after: query.get("after_id") ?? undefined, limit, order: "desc" as const };
    const { batches, hasMore } = await gateway.batches.list(principal, page);
    const data = batches.map((batch) => encodeMessages(batch, gateway.publicUrl()));
    return Response.json({
      data,
      has_more: hasMore,
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
    });
  }),
};

export const showMessageBatch: ClientEndpoint = {
  method: "GET",
  paths: dropInPath("/v1/messages/batches/{id}"),
  id: "getMessageBatch",
  summary: "Show the state of a batch",
  dialect: "messages",
  parameters: ["batch-id"],
  answers: [json(BatchAnswer, "The batch.")],
  handle: withBatch(async (batch, _routed, { gateway }) => Response.json(encodeMessages(batch, gateway.publicUrl()))),
};

export const cancelMessageBatch: ClientEndpoint = {
  method: "POST",
  paths: dropInPath("/v1/messages/batches/{id}/cancel"),
  id: "cancelMessageBatch",
  summary: "Cancel a batch; requests that are running are finished",
  dialect: "messages",
  parameters: ["batch-id"],
  answers: [json(BatchAnswer, "The batch.")],
  handle: withCaller(async (principal, routed, { gateway }) => {
    const batch = await gateway.batches.cancel(principal, idOf(routed));
    if (batch === undefined) throw noSuchBatch(routed);
    return Response.json(encodeMessages(batch, gateway.publicUrl()));
  }),
};

export const deleteMessageBatch: ClientEndpoint = {
  method: "DELETE",
  paths: dropInPath("/v1/messages/batches/{id}"),
  id: "deleteMessageBatch",
  summary: "Delete a batch that has ended",
  dialect: "messages",
  parameters: ["batch-id"],
  answers: [json(Type.Object({ id: Type.String(), type: Type.Literal("message_batch_deleted") }), "It is deleted.")],
  handle: withCaller(async (principal, routed, { gateway }) => {
    if (!(await gateway.batches.delete(idOf(routed), mayDelete(principal, gateway)))) throw noSuchBatch(routed);
    return Response.json({ id: idOf(routed), type: "message_batch_deleted" });
  }),
};

export const readMessageBatch: ClientEndpoint = {
  method: "GET",
  paths: dropInPath("/v1/messages/batches/{id}/results"),
  id: "readMessageBatch",
  summary: "Read the results of a batch that has ended",
  dialect: "messages",
  parameters: ["batch-id"],
  answers: [{ description: "A result for each request, one a line.", contentType: "application/x-jsonl" }],
  handle: withCaller(async (principal, routed, { gateway }) => {
    const batch = await gateway.batches.find(principal, idOf(routed));
    if (batch === undefined) throw noSuchBatch(routed);
    const [error] = batch.errors ?? [];
    if (error !== undefined) throw new GatewayError("invalid_request", `This batch did not run: ${error.message}`);
    if (batch.outputId === undefined) {
      throw new GatewayError("not_found", "This batch has no results yet. Poll it until it has ended.");
    }
    const file = await gateway.uploads.find(principal, objectId("file", "chat", batch.outputId));
    const content = file && (await gateway.uploads.open(file));
    if (content === undefined) throw noSuchBatch(routed);
    return new Response(content, { headers: { "content-type": "application/x-jsonl" } });
  }),
};

function encodeMessages(batch: Batch, publicUrl: string) {
  const { state, counts, at, createdAtMs, deadlineAtMs } = batch;
  const id = objectId("batch", "messages", batch.id);
  const time = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString());
  const isEnded = ENDED.has(state);
  return {
    id,
    type: "message_batch",
    processing_status: isEnded ? "ended" : state === "cancelling" ? "canceling" : "in_progress",
    request_counts: {
      processing: counts.open,
      succeeded: counts.succeeded,
      errored: counts.failed,
      canceled: counts.cancelled,
      expired: counts.expired,
    },
    ended_at: isEnded ? time(at[state]) : null,
    created_at: time(createdAtMs),
    expires_at: time(deadlineAtMs),
    archived_at: null,
    cancel_initiated_at: time(at["cancelling"]),
    results_url:
      batch.outputId === undefined ? null : `${publicUrl.replace(/\/+$/, "")}/v1/messages/batches/${id}/results`,
  };
}
