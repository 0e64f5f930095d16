import { GatewayError } from "../../canon/error.ts";
import type { Receipt } from "../../canon/receipt.ts";
import { unionOfTags } from "../../canon/tags.ts";
import { PENDING } from "../../storage/tables/intents.ts";
import type { Call, IncomingRequest } from "../call.ts";
import type { Gateway } from "../gateway.ts";

/** What the receipt will report about the request. */
export interface IntendedCall extends Pick<Receipt, "verb" | "stream"> {
  model: { readonly id: string };
}

type Begun = Pick<Call, "receiptId" | "principal" | "admission"> & { incoming: IncomingRequest };

/**
 * Resolves when a row on disk records the call, so that a crash does not lose it. Throws if neither the store nor the journal
 * accepts the row, because the call would not be accounted for.
 */
export async function keepIntent(
  { receiptId, principal, admission, incoming }: Begun,
  { verb, stream, model }: IntendedCall,
  { ledger, instance, runningCalls }: Pick<Gateway, "ledger" | "instance" | "runningCalls">,
): Promise<void> {
  const intent: Receipt = {
    id: receiptId,
    project: principal.project,
    key: principal.keyId,
    createdAtMs: admission.atMs,
    model: model.id,
    provider: "",
    upstreamModel: "",
    verb,
    clientDialect: incoming.dialect.name,
    upstreamDialect: "",
    lane: "native",
    stream,
    outcome: PENDING,
    offers: [],
    fields: [],
    usage: {},
    usageSource: "partial",
    priceRule: "",
    costNanoUsd: 0,
    totalMs: 0,
    instance,
  };
  const tags = unionOfTags(principal.tags, incoming.tags);
  if (tags !== undefined) intent.tags = tags;
  if (admission.endUser !== undefined) intent.endUser = admission.endUser;
  if (incoming.line !== undefined) intent.batch = incoming.line.batch;
  if (!(await ledger.writeIntent(intent, runningCalls === 1))) throw cannotStore(ledger.refusal);
}

const RETRY_SECONDS = 10;

/** Refuses a new call whose receipt could be lost. What a call in flight causes, or a provider has done already, is recorded. */
export function requireLedger(
  { sessionWork, cause, line }: IncomingRequest,
  { ledger }: Pick<Gateway, "ledger">,
): void {
  const isDone = sessionWork === "late" || sessionWork === "refused";
  if (isDone || cause !== undefined || line?.native !== undefined) return;
  const { refusal } = ledger;
  if (refusal !== undefined) throw cannotStore(refusal);
}

const cannotStore = (reason = "neither its database nor its journal takes them"): GatewayError =>
  new GatewayError("overloaded", `The gateway cannot store more receipts: ${reason}. Try again later.`, {
    retryAfterSeconds: RETRY_SECONDS,
  });
