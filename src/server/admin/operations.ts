import { recordAct } from "../../access/audit.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { GatewayError } from "../../canon/error.ts";
import { operationName } from "../../media/predict-long-running/operation-name.ts";
import { expectedCostOf } from "../../operations/bill.ts";
import { type ListedOperation, selectListedOperation, selectOperationPage } from "../../storage/tables/operations.ts";
import { json } from "../openapi/operation.ts";
import { actorOf } from "./actor.ts";
import { adminRoute } from "./define-route.ts";
import { limitOf, oneOfField, PAGE_FIELDS, textField } from "./query-fields.ts";
import { readPlace } from "./read-place.ts";
import { dataAnswer, pageAnswer } from "./schemas/answers.ts";
import { OperationItem, STATES } from "./schemas/operation.ts";

export const listOperations = adminRoute({
  method: "GET",
  path: "/api/operations",
  id: "listOperations",
  summary: "List videos and background responses, newest first.",
  roles: ["admin", "viewer"],
  query: {
    ...PAGE_FIELDS,
    state: oneOfField("Only operations in this state.", STATES),
    project: textField("Only operations of this project."),
    key: textField("Only operations of the key with this id."),
    model: textField("Only operations of this model."),
    provider: textField("Only operations of this provider."),
  },
  answers: [json(pageAnswer("OperationList", OperationItem), "Operations that have not expired.")],
  handle: async ({ query }, { storage }) => {
    const limit = limitOf(query);
    const { state, project, key, model, provider, after } = query;
    const filter = withoutAbsent({ state, project, key, model, provider });
    const page = withoutAbsent({ limit: limit + 1, after: after === undefined ? undefined : readPlace(after) });
    const found = await selectOperationPage(storage, filter, page);
    const shown = found.slice(0, limit);
    const last = shown.at(-1);
    return {
      data: shown.map(operationView),
      next: found.length > limit && last !== undefined ? `${last.createdAtMs}.${last.id}` : null,
    };
  },
});

export const cancelOperation = adminRoute({
  method: "POST",
  path: "/api/operations/{id}/cancel",
  id: "cancelOperation",
  summary: "End an operation without waiting for its provider, which may continue and charge for it.",
  roles: ["admin"],
  answers: [{ ...json(dataAnswer("OperationAnswer", OperationItem), "It ends at the next poll."), status: 202 }],
  handle: async ({ parameters, operator, connection }, { storage, operations, gateway }) => {
    const id = parameters["id"] ?? "";
    const found = await selectListedOperation(storage, id);
    if (found === undefined) {
      const message = `There is no operation ${JSON.stringify(id.slice(0, 100))}; GET /api/operations lists the ids.`;
      throw new GatewayError("not_found", message, { code: "operation_not_found" });
    }
    if (found.kind === "answer") await gateway.background.cancel(found.project, id);
    else if (!(await operations.cancel(id))) {
      throw new GatewayError("invalid_request", "This operation has already ended.", { code: "operation_ended" });
    }
    const { project, state } = found;
    const about = { act: "operation.cancel", target: id, project, before: { state } };
    await recordAct(storage, { ...actorOf(operator, connection), ...about }, gateway);
    return { data: operationView((await selectListedOperation(storage, id)) ?? found) };
  },
});

const moment = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString());

function operationView(operation: ListedOperation) {
  const { id, kind, state, model, parts, error } = operation;
  const isOpen = state === "submitting" || state === "running";
  const told = parts.flatMap(({ progress }) => (progress === undefined ? [] : [progress]));
  return {
    id,
    name: kind === "video" ? operationName(model, id) : null,
    kind,
    state,
    cancelled: kind === "video" && operation.deadlineAtMs <= operation.createdAtMs,
    project: operation.project,
    key: operation.keyId,
    model,
    provider: operation.provider || null,
    progress: told.length === 0 ? null : Math.min(...told),
    videos: parts.reduce((sum, { videos }) => sum + videos.length, 0),
    expected_cost_nano_usd: kind === "video" ? expectedCostOf(operation) : null,
    error: error === undefined ? null : { kind: error.kind, message: error.message },
    receipt: operation.receiptId,
    created_at: new Date(operation.createdAtMs).toISOString(),
    next_poll_at: isOpen && kind === "video" ? moment(operation.dueAtMs) : null,
    ended_at: moment(operation.endedAtMs),
    expires_at: moment(operation.expiresAtMs),
  };
}
