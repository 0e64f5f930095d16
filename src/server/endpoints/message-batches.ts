import { Type } from "../../base/type.ts";
import type { Batch } from "../../batches/batch.ts";
import { ENDED } from "../../batches/batches.ts";
import { GatewayError } from "../../canon/error.ts";
import { objectId } from "../../objects/object-id.ts";
import { keptHeaders, OF_BATCH } from "../../relay/derived/kept-headers.ts";
import { storeRequests } from "../batches/store-requests.ts";
import { incomingOf } from "../incoming-request.ts";
import { mayDelete } from "../may-delete.ts";
import { noSuchObject } from "../no-such-object.ts";
import { BatchAnswer, BatchListAnswer } from "../openapi/batch-answers.ts";
import { json } from "../openapi/operation.ts";
import type { ClientEndpoint } from "./client-endpoint.ts";
import { readLimit } from "./file-forms.ts";
import { ownerOf } from "./owner-of.ts";
import { dropInPath } from "./paths.ts";
import { batchIdOf, withBatch } from "./with-batch.ts";
import { withCaller } from "./with-caller.ts";

const DAY_MS = 24 * 60 * 60_000;

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
  handle: withCaller(async (principal, routed, { gateway }) => {
    const headers = keptHeaders(incomingOf(routed), principal, OF_BATCH, gateway);
    const { blob, requests } = await storeRequests(routed.request, principal.project, gateway);
    try {
      const own = { form: "messages", endpoint: "/v1/messages", window: "24h", windowMs: DAY_MS };
      const terms = { ...own, blobs: [blob], requests, headers };
      const batch = await gateway.batches.create(ownerOf(principal, routed), terms);
      return Response.json(encode(batch, gateway.publicUrl()));
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
    const data = batches.map((batch) => encode(batch, gateway.publicUrl()));
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
  handle: withBatch(async (batch, _routed, { gateway }) => Response.json(encode(batch, gateway.publicUrl()))),
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
    const batch = await gateway.batches.cancel(principal, batchIdOf(routed));
    if (batch === undefined) throw noSuchObject("batch", batchIdOf(routed));
    return Response.json(encode(batch, gateway.publicUrl()));
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
    if (!(await gateway.batches.delete(batchIdOf(routed), mayDelete(principal, gateway))))
      throw noSuchObject("batch", batchIdOf(routed));
    return Response.json({ id: batchIdOf(routed), type: "message_batch_deleted" });
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
  handle: withBatch(async (batch, routed, { gateway }, principal) => {
    const [error] = batch.errors ?? [];
    if (error !== undefined) throw new GatewayError("invalid_request", `This batch did not run: ${error.message}`);
    if (batch.outputId === undefined) {
      throw new GatewayError("not_found", "This batch has no results yet. Poll it until it has ended.");
    }
    const file = await gateway.uploads.find(principal, objectId("file", "chat", batch.outputId));
    const content = file && (await gateway.uploads.open(file));
    if (content === undefined) throw noSuchObject("batch", batchIdOf(routed));
    return new Response(content, { headers: { "content-type": "application/x-jsonl" } });
  }),
};

function encode(batch: Batch, publicUrl: string) {
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
