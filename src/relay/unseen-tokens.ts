import { BUDGET_OF_EFFORT, type ReasoningAmount, wantedAmount } from "../canon/reasoning.ts";
import type { Call } from "./call.ts";
import { DEFAULT_OUTPUT, outputLimit } from "./output-limit.ts";

/** What an answer is taken to have come to, in tokens a second, where nothing of it was seen: as quick models of large hosts are. */
const DEFAULT_RATE = 250;
/** No host thinks faster than this, in tokens a second. */
const TOP_PACE = 1000;

/** An answer that the gateway has ended before its usage was told. */
export interface EndedAnswer {
  contentSeen: boolean;
  reasoningSeen: boolean;
  /** From the call's beginning to its first content, or to its end where there was none. */
  waitedMs: number;
}

/**
 * Tokens that were generated and that nobody has seen, by an estimate that leaving early cannot lower (H26). Of an answer
 * that had not begun: what its time allows. Of one that had: the thinking before it, where the model thinks and does not
 * show it.
 */
export function unseenTokens(call: Call, { contentSeen, reasoningSeen, waitedMs }: EndedAnswer): number {
  if (!contentSeen) return Math.min(outputLimit(call, DEFAULT_OUTPUT), Math.ceil((waitedMs / 1000) * DEFAULT_RATE));
  if (reasoningSeen && call.attempt?.target?.codec?.reasoning.shown === "whole") return 0;
  const wish = call.incoming.dialect.requests.reasoning(call.body);
  const amount = wish && wantedAmount(wish);
  const budget = budgetOf(amount);
  if (budget !== undefined) return budget;
  return thinksUnasked(call, amount) ? Math.min(BUDGET_OF_EFFORT.medium, Math.ceil((waitedMs / 1000) * TOP_PACE)) : 0;
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
