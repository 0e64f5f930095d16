import { asGatewayError } from "../../canon/error.ts";
import type { BilledLeg, Call, LaneAttempt } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { answeredBy, billUsage } from "./bill-usage.ts";
import { billedUsage, type Ending } from "./billed-usage.ts";
import { discountAt } from "./discount.ts";

/** How an attempt ended that was not the last one. */
export type LegEnding = Omit<Ending, "whole" | "produced">;

/**
 * The usage of an attempt that another one replaces, which is billed all the same (H14). Not for the last attempt, which `settle`
 * bills.
 */
export function billLeg(call: Call, gateway: Gateway, attempt: LaneAttempt, ending: LegEnding): BilledLeg[] {
  const broken = { ...ending, whole: false, produced: true };
  const { usage } = billedUsage(call, gateway, attempt, broken);
  const { target, terms } = attempt;
  return billUsage(usage, {
    prices: target,
    provider: target.offer.provider,
    terms,
    discount: discountAt(call.principal, target),
    discounts: call.principal.discounts,
    catalogue: gateway.snapshot.catalogue,
    answered: answeredBy(attempt, gateway.snapshot.catalogue),
  });
}

/** The same for an attempt that was ended before its first content: what it may have generated (H26). */
export const billUnfinished = (
  call: Call,
  gateway: Gateway,
  attempt: LaneAttempt & { startedAtMs: number },
): BilledLeg[] =>
  billLeg(call, gateway, attempt, {
    outcome: "client_gone",
    usage: undefined,
    generatedCharacters: 0,
    reasoningSeen: false,
    stop: undefined,
    firstContentAtMs: undefined,
    begunAtMs: attempt.startedAtMs,
  });

/** The same for an attempt that failed before its first content, if its provider reported usage. */
export function billFailed(call: Call, gateway: Gateway, attempt: LaneAttempt, error: unknown): BilledLeg[] {
  const { kind, failure } = asGatewayError(error);
  if (failure?.usage === undefined) return [];
  return billLeg(call, gateway, attempt, {
    outcome: kind,
    usage: failure.usage,
    usageRuns: true,
    generatedCharacters: 0,
    reasoningSeen: false,
    stop: undefined,
    firstContentAtMs: undefined,
  });
}
