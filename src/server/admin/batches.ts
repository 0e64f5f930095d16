import { recordAct } from "../../access/audit.ts";
import type { Operator } from "../../access/people/operator.ts";
import { BATCH_STATES, type Batch } from "../../batches/batch.ts";
import { ENDED } from "../../batches/batches.ts";
import { GatewayError } from "../../canon/error.ts";
import { anyForm } from "../../objects/object-id.ts";
import type { Gateway } from "../../relay/gateway.ts";
import { json } from "../openapi/operation.ts";
import { actorOf } from "./actor.ts";
import { adminRoute } from "./define-route.ts";
import { projectOf } from "./project-scope.ts";
import { limitOf, oneOfField, PAGE_FIELDS, textField } from "./query-fields.ts";
import { readPlace } from "./read-place.ts";
import { dataAnswer, pageAnswer } from "./schemas/answers.ts";
import { BatchItem } from "./schemas/batch.ts";

const BatchAnswer = dataAnswer("BatchAnswer", BatchItem);

export const listBatchesRoute = adminRoute({
  method: "GET",
  path: "/api/batches",
  id: "listBatches",
  summary: "List batches, newest first, with their progress and cost.",
  roles: ["admin", "viewer", "project"],
  query: {
    ...PAGE_FIELDS,
    state: oneOfField("Only batches in this state.", BATCH_STATES),
    project: textField("Only batches of this project."),
    key: textField("Only batches of the key with this id."),
  },
  answers: [json(pageAnswer("BatchList", BatchItem), "Batches that have not been deleted.")],
  handle: async ({ query, operator }, { gateway }) => {
    const limit = limitOf(query);
    const { state, key, after } = query;
    const filter = { state, key, project: projectOf(operator, query.project) };
    const page = { limit: limit + 1, after: after === undefined ? undefined : readPlace(after) };
    const found = await gateway.batches.listAll(filter, page);
    const shown = found.slice(0, limit);
    const last = shown.at(-1);
    return {
      data: shown.map(batchView),
      next: found.length > limit && last !== undefined ? `${last.createdAtMs}.${last.id}` : null,
    };
  },
});

export const showBatchRoute = adminRoute({
  method: "GET",
  path: "/api/batches/{id}",
  id: "showBatch",
  summary: "Show a batch by its id in any form.",
  roles: ["admin", "viewer", "project"],
  answers: [json(BatchAnswer, "The batch.")],
  handle: async ({ parameters, operator }, { gateway }) => {
    return { data: batchView(await find(parameters["id"] ?? "", operator, gateway)) };
  },
});

export const cancelBatchRoute = adminRoute({
  method: "POST",
  path: "/api/batches/{id}/cancel",
  id: "cancelBatch",
  summary: "Cancel a batch. Lines that run are finished and billed; the others are not run.",
  roles: ["admin", "project"],
  answers: [{ ...json(BatchAnswer, "It ends when its running lines have ended."), status: 202 }],
  handle: async ({ parameters, operator, connection }, { storage, gateway }) => {
    const { id: random, project, keyId, state } = await find(parameters["id"] ?? "", operator, gateway);
    const id = anyForm("batch", random);
    const cancelled = await gateway.batches.cancel({ project, keyId }, id);
    if (cancelled === undefined) throw noSuchBatch(id);
    const about = { act: "batch.cancel", target: id, project, before: { state }, after: { state: cancelled.state } };
    await recordAct(storage, { ...actorOf(operator, connection), ...about }, gateway);
    return { data: batchView(cancelled) };
  },
});

/** For an operator of one project, another project's batch does not exist (S09). */
async function find(id: string, operator: Operator, { objects, batches }: Gateway): Promise<Batch> {
  const owner = await objects.owner(id);
  const project = projectOf(operator, undefined);
  const batch = owner && (project ?? owner.project) === owner.project ? await batches.find(owner, id) : undefined;
  if (batch === undefined) throw noSuchBatch(id);
  return batch;
}

function noSuchBatch(id: string): GatewayError {
  const message = `There is no batch ${JSON.stringify(id.slice(0, 100))}; GET /api/batches lists the ids.`;
  return new GatewayError("not_found", message, { code: "batch_not_found" });
}

const moment = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString());

const fileId = (random: string | undefined): string | null => (random === undefined ? null : anyForm("file", random));

function batchView(batch: Batch) {
  const { id, state, at, counts } = batch;
  const { total, open, running, succeeded, failed, cancelled, expired, costNanoUsd, heldNanoUsd } = counts;
  return {
    id: anyForm("batch", id),
    name: batch.name ?? null,
    dialect: batch.form,
    mode: batch.provider === undefined ? "own" : "native",
    provider: batch.provider ?? null,
    state,
    endpoint: batch.endpoint,
    project: batch.project,
    key: batch.keyId,
    objects: batch.share,
    progress: {
      total,
      done: total - open,
      succeeded,
      failed,
      cancelled,
      expired,
      running,
      waiting: open - running,
    },
    cost_nano_usd: costNanoUsd,
    held_nano_usd: heldNanoUsd,
    input_file_id: fileId(batch.inputId),
    output_file_id: fileId(batch.outputId),
    error_file_id: fileId(batch.errorId),
    errors: (batch.errors ?? []).map(({ code, message, line }) => ({ code, message, line: line ?? null })),
    completion_window: batch.window,
    created_at: new Date(batch.createdAtMs).toISOString(),
    started_at: moment(at.in_progress),
    ended_at: ENDED.has(state) ? moment(at[state]) : null,
    deadline_at: new Date(batch.deadlineAtMs).toISOString(),
  };
}
