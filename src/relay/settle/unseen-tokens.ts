import { BUDGET_OF_EFFORT, type ReasoningAmount, wantedAmount } from "../../canon/reasoning.ts";
import type { Call } from "../call.ts";
import { ASSUMED_OUTPUT_TOKENS, outputLimit } from "../request/output-limit.ts";

/** The assumed rate of a response of which nothing was seen, in tokens per second: that of fast models at large hosts. */
const DEFAULT_RATE = 250;
/** The highest rate at which any host generates reasoning, in tokens per second. */
const MAX_RATE = 1000;

/** A response that the gateway ended before its usage was reported. */
export interface EndedAnswer {
  contentSeen: boolean;
  reasoningSeen: boolean;
  /** From the start of the call to its first content, or to its end if there was none. */
  waitedMs: number;
}

/**
 * Estimates tokens that were generated but never seen, which an early disconnect must not reduce (H26). If the response had not
 * begun: what its time allows. If it had: the reasoning before it, if the model reasons without showing it.
 */
export function unseenTokens(call: Call, { contentSeen, reasoningSeen, waitedMs }: EndedAnswer): number {
  if (!contentSeen)
    return Math.min(outputLimit(call, ASSUMED_OUTPUT_TOKENS), Math.ceil((waitedMs / 1000) * DEFAULT_RATE));
  if (reasoningSeen && call.attempt?.target?.codec?.reasoning.shown === "whole") return 0;
  const asked = call.incoming.dialect.requests.reasoning(call.outline);
  const amount = asked && wantedAmount(asked);
  const budget = budgetOf(amount);
  if (budget !== undefined) return budget;
  return thinksUnasked(call, amount) ? Math.min(BUDGET_OF_EFFORT.medium, Math.ceil((waitedMs / 1000) * MAX_RATE)) : 0;
}

/** The requested reasoning budget in tokens; undefined if the model decides. */
function budgetOf(amount: ReasoningAmount | undefined): number | undefined {
  if (amount === undefined || amount === "dynamic") return undefined;
  if (typeof amount === "object") return amount.budget;
  return amount === "off" ? 0 : BUDGET_OF_EFFORT[amount];
}

function thinksUnasked({ model, attempt }: Call, amount: ReasoningAmount | undefined): boolean {
  if (amount === "dynamic") return true;
  return model.reasoning && attempt?.target?.codec?.reasoning.unasked !== false;
}
