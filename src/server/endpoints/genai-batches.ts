import type { Principal } from "../../access/principal.ts";
import { arrayAt, isObject, type JsonObject, objectAt, parseObject, stringAt } from "../../base/json.ts";
import { Type } from "../../base/type.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { Batch, BatchState } from "../../batches/batch.ts";
import { ENDED } from "../../batches/batches.ts";
import { objectId } from "../../objects/object-id.ts";
import { keptHeaders, OF_BATCH } from "../../relay/derived/kept-headers.ts";
import type { Gateway } from "../../relay/gateway.ts";
import { readSmallBody } from "../../relay/request/read-body.ts";
import type { ObjectBlob } from "../../storage/tables/objects.ts";
import { incomingOf } from "../incoming-request.ts";
import { mayDelete } from "../may-delete.ts";
import { noSuchObject } from "../no-such-object.ts";
import { GenaiBatchAnswer } from "../openapi/batch-answers.ts";
import { json } from "../openapi/operation.ts";
import { MODEL_IN_PATH } from "../openapi/parameters.ts";
import { wrongField } from "../wrong-field.ts";
import type { ClientEndpoint } from "./client-endpoint.ts";
import { readLimit } from "./file-forms.ts";
import { ownerOf } from "./owner-of.ts";
import { BESIDE_V1, verbEndpointPaths, versionedPath } from "./paths.ts";
import { batchIdOf, withBatch } from "./with-batch.ts";
import { withCaller } from "./with-caller.ts";

const DAY_MS = 24 * 60 * 60_000;
/** Results that were asked for inline are shown with the batch, up to this size. */
const MAX_INLINE_BYTES = 20 * 1024 * 1024;

export const batchGenerateContent: ClientEndpoint = {
  method: "POST",
  paths: verbEndpointPaths("batchGenerateContent").filter(({ door }) => door === "dropin"),
  id: "batchGenerateContent",
  summary: "Generate content for many requests in the background",
  dialect: "genai",
  parameters: MODEL_IN_PATH,
  request: Type.Object({ batch: Type.Object({}) }, { title: "GenaiBatchRequest" }),
  answers: [json(GenaiBatchAnswer, "The batch.")],
  handle: withCaller(async (principal, routed, { gateway }) => {
    const { request, dialect, parameters } = routed;
    const headers = keptHeaders(incomingOf(routed), principal, OF_BATCH, gateway);
    const body = await readSmallBody(request, gateway.snapshot.maxBodyBytes, principal, gateway);
    const batch = objectAt(body, "batch") ?? {};
    const model = dialect.http.readModel(parameters);
    const input = await inputOf(objectAt(batch, "inputConfig") ?? {}, principal, gateway);
    try {
      const made = await gateway.batches.create(
        ownerOf(principal, routed),
        withoutAbsent({
          form: "genai",
          endpoint: `/v1beta/models/${model}:generateContent`,
          window: "24h",
          windowMs: DAY_MS,
          name: stringAt(batch, "displayName"),
          headers,
          ...input,
        }),
      );
      return Response.json(await encode(made, principal, gateway));
    } catch (thrown) {
      if (input.blobs !== undefined) await gateway.uploads.discard(input.blobs).catch(() => undefined);
      throw thrown;
    }
  }),
};

async function inputOf(
  config: JsonObject,
  principal: Principal,
  { uploads }: Gateway,
): Promise<{ inputId?: string; blobs?: readonly ObjectBlob[] }> {
  const fileName = stringAt(config, "fileName");
  if (fileName !== undefined) {
    const file = await uploads.find(principal, fileName);
    if (file !== undefined) return { inputId: file.id };
    throw wrongField("batch.inputConfig.fileName", "names no file that this key may use");
  }
  const requests = arrayAt(objectAt(config, "requests"), "requests");
  if (requests.length === 0 || !requests.every(isObject)) {
    throw wrongField("batch.inputConfig", "must have fileName, or requests.requests with at least one request");
  }
  const seen = new Set<string>();
  const lines = requests.map((line, index) => {
    const key = stringAt(objectAt(line, "metadata"), "key") ?? `request-${index + 1}`;
    if (seen.has(key)) {
      throw wrongField(`batch.inputConfig.requests.requests[${index}].metadata.key`, "was used before in this batch");
    }
    seen.add(key);
    return `${JSON.stringify({ key, request: line["request"] ?? null })}\n`;
  });
  const text = Buffer.from(lines.join(""));
  return { blobs: [await uploads.write(principal.project, text, text.length)] };
}

export const listGenaiBatches: ClientEndpoint = {
  method: "GET",
  paths: versionedPath("/batches", { versions: BESIDE_V1 }),
  id: "listGenaiBatches",
  summary: "List batches, newest first",
  dialect: "genai",
  answers: [json(Type.Object({ operations: Type.Array(GenaiBatchAnswer) }), "A page of batches.")],
  handle: withCaller(async (principal, { query }, { gateway }) => {
    const limit = readLimit(query.get("pageSize"), "pageSize", { most: 100, unsaid: 20 });
    const page = { after: query.get("pageToken") ?? undefined, limit, order: "desc" as const };
    const { batches, hasMore } = await gateway.batches.list(principal, page);
    const operations = batches.map((batch) => withoutResults(batch));
    const last = batches.at(-1);
    const next = hasMore && last !== undefined ? objectId("batch", "genai", last.id) : undefined;
    return Response.json(withoutAbsent({ operations, nextPageToken: next }));
  }),
};

export const showGenaiBatch: ClientEndpoint = {
  method: "GET",
  paths: versionedPath("/batches/{id}", { versions: BESIDE_V1 }),
  id: "getGenaiBatch",
  summary: "Show the state of a batch, and its results",
  dialect: "genai",
  parameters: ["batch-id"],
  answers: [json(GenaiBatchAnswer, "The batch.")],
  handle: withBatch(async (batch, _routed, { gateway }, principal) =>
    Response.json(await encode(batch, principal, gateway)),
  ),
};

export const cancelGenaiBatch: ClientEndpoint = {
  method: "POST",
  paths: versionedPath("/batches/{id}:cancel"),
  id: "cancelGenaiBatch",
  summary: "Cancel a batch; requests that are running are finished",
  dialect: "genai",
  parameters: ["batch-id"],
  answers: [json(Type.Object({}), "It is being cancelled.")],
  handle: withCaller(async (principal, routed, { gateway }) => {
    if ((await gateway.batches.cancel(principal, batchIdOf(routed))) === undefined)
      throw noSuchObject("batch", batchIdOf(routed));
    return Response.json({});
  }),
};

export const deleteGenaiBatch: ClientEndpoint = {
  method: "DELETE",
  paths: versionedPath("/batches/{id}"),
  id: "deleteGenaiBatch",
  summary: "Delete a batch that has ended",
  dialect: "genai",
  parameters: ["batch-id"],
  answers: [json(Type.Object({}), "It is deleted.")],
  handle: withCaller(async (principal, routed, { gateway }) => {
    if (!(await gateway.batches.delete(batchIdOf(routed), mayDelete(principal, gateway))))
      throw noSuchObject("batch", batchIdOf(routed));
    return Response.json({});
  }),
};

const STATES: Readonly<Record<BatchState, string>> = {
  validating: "BATCH_STATE_PENDING",
  in_progress: "BATCH_STATE_RUNNING",
  finalizing: "BATCH_STATE_RUNNING",
  cancelling: "BATCH_STATE_RUNNING",
  completed: "BATCH_STATE_SUCCEEDED",
  failed: "BATCH_STATE_FAILED",
  expired: "BATCH_STATE_EXPIRED",
  cancelled: "BATCH_STATE_CANCELLED",
};

function withoutResults(batch: Batch, output?: object) {
  const { id, state, at, counts, name, createdAtMs, errors, endpoint } = batch;
  const time = (ms: number) => new Date(ms).toISOString();
  const isEnded = ENDED.has(state);
  const endedAtMs = isEnded ? at[state] : undefined;
  const [error] = errors ?? [];
  return withoutAbsent({
    name: objectId("batch", "genai", id),
    metadata: withoutAbsent({
      "@type": "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch",
      name: objectId("batch", "genai", id),
      model: /^\/v1beta\/(models\/.*):generateContent$/.exec(endpoint)?.[1],
      displayName: name,
      state: STATES[state],
      createTime: time(createdAtMs),
      updateTime: time(Math.max(createdAtMs, ...Object.values(at))),
      endTime: endedAtMs === undefined ? undefined : time(endedAtMs),
      batchStats: {
        requestCount: String(counts.total),
        pendingRequestCount: String(counts.open),
        successfulRequestCount: String(counts.succeeded),
        failedRequestCount: String(counts.failed + counts.cancelled + counts.expired),
      },
      output,
    }),
    done: isEnded ? true : undefined,
    error: error === undefined ? undefined : { code: 3, message: messageOf(error) },
    response: output,
  });
}

const messageOf = ({ message, line }: { message: string; line?: number | undefined }): string =>
  line === undefined ? message : `Line ${line}: ${message}`;

async function encode(batch: Batch, principal: Principal, gateway: Gateway): Promise<object> {
  const { outputId, inputId } = batch;
  if (outputId === undefined) return withoutResults(batch);
  const file = await gateway.uploads.find(principal, objectId("file", "chat", outputId));
  // The results of requests that were sent inline are returned inline.
  if (inputId !== undefined || file === undefined || file.size > MAX_INLINE_BYTES) {
    return withoutResults(batch, { responsesFile: objectId("file", "genai", outputId) });
  }
  const content = await gateway.uploads.open(file);
  const lines = content === undefined ? [] : (await new Response(content).text()).trimEnd().split("\n");
  const inlinedResponses = lines.map((line) => {
    const { key, ...outcome } = parseObject(line) ?? {};
    return { ...outcome, metadata: { key } };
  });
  return withoutResults(batch, { inlinedResponses: { inlinedResponses } });
}
