import type { Operation } from "../../canon/operation.ts";
import type { Receipt } from "../../canon/receipt.ts";
import { completionTokens, promptTokens } from "../../canon/usage.ts";
import type { Call, IncomingCall } from "../call.ts";
import type { Gateway } from "../gateway.ts";

/** A call of any kind. */
type PublishedCall = Pick<Call, "receiptId" | "principal" | "model" | "stream" | "attempt"> & {
  incoming: Pick<IncomingCall, "requestId">;
};

type Publisher = Pick<Gateway, "events" | "clock">;

/** A call was admitted. All functions here are called only while there are subscribers. */
export function publishCallBegun(call: PublishedCall, { events, clock }: Publisher): void {
  events.tell({
    type: "call.begun",
    atMs: clock.wallMs(),
    receipt: call.receiptId,
    requestId: call.incoming.requestId,
    project: call.principal.project,
    key: call.principal.keyId,
    model: call.model.id,
    stream: call.stream,
  });
}

/** The first content of a stream has arrived. */
export function publishCallCommitted(call: PublishedCall, { events, clock }: Publisher): void {
  const { target } = call.attempt ?? {};
  events.tell({
    type: "call.committed",
    atMs: clock.wallMs(),
    receipt: call.receiptId,
    project: call.principal.project,
    key: call.principal.keyId,
    model: (target?.model ?? call.model).id,
    provider: target?.offer.provider ?? "",
  });
}

export function publishCallEnded(receipt: Receipt, { events, clock }: Publisher): void {
  events.tell({
    type: "call.ended",
    atMs: clock.wallMs(),
    receipt: receipt.id,
    project: receipt.project,
    key: receipt.key,
    model: receipt.model,
    provider: receipt.provider,
    outcome: receipt.outcome,
    costNanoUsd: receipt.costNanoUsd,
    inputTokens: promptTokens(receipt.usage),
    outputTokens: completionTokens(receipt.usage),
    firstContentMs: receipt.firstContentMs,
    totalMs: receipt.totalMs,
  });
}

type PublishedOperation = Pick<Operation, "id" | "project" | "keyId" | "model" | "provider">;

export function publishOperation(
  { id, project, keyId, model, provider }: PublishedOperation,
  state: "running" | "done" | "failed",
  { events, clock }: Publisher,
): void {
  events.tell({ type: "operation", atMs: clock.wallMs(), operation: id, project, key: keyId, model, provider, state });
}
