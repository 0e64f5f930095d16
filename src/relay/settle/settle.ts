import { completionTokens } from "../../canon/usage.ts";
import type { Target } from "../../routing/target.ts";
import type { Call } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { unpricedTools } from "../request/check-billing.ts";
import { billedUsage, type Ending } from "./billed-usage.ts";
import { type Bill, closeCall } from "./close-call.ts";
import { sentBillables } from "./sent-billables.ts";

/** Writes the call's ledger row, stores its response and releases its reservation. Resolves when all is committed. */
export function settle(call: Call, gateway: Gateway, ending: Ending): Promise<void> {
  const { usage, source, corrected } = billedUsage(call, gateway, call.attempt, ending);
  // A failed or abandoned call is recorded and billed for the offer that was being tried.
  const { attempt } = call;
  const target = attempt?.target;
  const workedMs = attempt?.workedMs;
  if (ending.whole && target !== undefined && workedMs !== undefined) {
    gateway.health.generated(target, completionTokens(usage), workedMs);
  }
  const bill: Bill = {
    verb: call.incoming.verb,
    clientDialect: call.incoming.dialect.name,
    upstreamDialect: target?.via ?? call.incoming.dialect.name,
    lane: attempt?.lane.name ?? "native",
    outcome: ending.outcome,
    offer: target?.offer,
    usage,
    source,
    corrected,
    pricings: target?.pricings ?? call.model.pricings,
    priceMultiples: target?.priceMultiples,
    toolPrices: target?.toolPrices,
    billables: call.billables,
    unpriced: ending.produced && target !== undefined ? unpricedBy(call, target) : NO_NAMES,
    terms: attempt?.terms ?? NO_TERMS,
    stop: ending.stop,
    firstContentAtMs: ending.firstContentAtMs,
    error: ending.error,
  };
  const { saver } = call;
  if (saver === undefined || !ending.whole) return closeCall(call, gateway, bill);
  // A client that knows its id could read it even if the process was killed, so no response may be readable without a row.
  if (saver.insists || call.stream) {
    return closeCall(call, gateway, bill).then(async () => {
      // The gateway does not end before.
      gateway.runningCalls++;
      await saver.save(attempt);
      gateway.runningCalls--;
    });
  }
  // Both must be stored before the client has its whole response, because it may build on it at once. The row is the second, so that
  // it says what was not stored.
  const lost = saver.save(attempt).then(() => {
    const { loss } = saver;
    if (loss !== undefined && attempt !== undefined) attempt.notes = [...attempt.notes, loss];
    return loss;
  });
  return closeCall(call, gateway, bill, lost);
}

const unpricedBy = (call: Call, { offer, via }: Target): readonly string[] =>
  call.billables.length === 0
    ? NO_NAMES
    : unpricedTools(sentBillables(call), offer, via === call.incoming.dialect.name);

const NO_TERMS: readonly string[] = [];
const NO_NAMES: readonly string[] = [];

/** Whether the last offer was working when the client disconnected or the deadline passed. */
export const isAbandoned = ({ offersTried }: Pick<Call, "offersTried">): boolean =>
  offersTried.at(-1)?.outcome === "abandoned";
