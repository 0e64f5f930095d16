import { BUDGET_OF_EFFORT, type ReasoningAmount, wantedAmount } from "../../canon/reasoning.ts";
import type { Call } from "../call.ts";
import { ASSUMED_OUTPUT_TOKENS, outputLimit } from "../request/output-limit.ts";

/** The assumed rate of an answer of which nothing was seen, in tokens a second: that of fast models at large hosts. */
const DEFAULT_RATE = 250;
/** The highest rate at which any host generates reasoning, in tokens a second. */
const MAX_RATE = 1000;

/** An answer that the gateway ended before its usage was reported. */
export interface EndedAnswer {
  contentSeen: boolean;
  reasoningSeen: boolean;
  /** From the call's beginning to its first content, or to its end where there was none. */
  waitedMs: number;
}

/**
 * An estimate of the tokens that were generated and never seen, which disconnecting early cannot lower (H26). Of an answer
 * that had not begun: what its time allows. Of one that had: the reasoning before it, where the model reasons and does not
 * show it.
 */
export function unseenTokens(call: Call, { contentSeen, reasoningSeen, waitedMs }: EndedAnswer): number {
  if (!contentSeen)
    return Math.min(outputLimit(call, ASSUMED_OUTPUT_TOKENS), Math.ceil((waitedMs / 1000) * DEFAULT_RATE));
  if (reasoningSeen && call.attempt?.target?.codec?.reasoning.shown === "whole") return 0;
  const asked = call.incoming.dialect.requests.reasoning(call.body);
  const amount = asked && wantedAmount(asked);
  const budget = budgetOf(amount);
  if (budget !== undefined) return budget;
  return thinksUnasked(call, amount) ? Math.min(BUDGET_OF_EFFORT.medium, Math.ceil((waitedMs / 1000) * MAX_RATE)) : 0;
}

/** What was asked for, in tokens; undefined where that is left to the model. */
function budgetOf(amount: ReasoningAmount | undefined): number | undefined {
  if (amount === undefined || amount === "dynamic") return undefined;
  if (typeof amount === "object") return amount.budget;
  return amount === "off" ? 0 : BUDGET_OF_EFFORT[amount];
}

function thinksUnasked({ model, attempt }: Call, amount: ReasoningAmount | undefined): boolean {
  if (amount === "dynamic") return true;
  return model.reasoning && attempt?.target?.codec?.reasoning.unasked !== false;
}
