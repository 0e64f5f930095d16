import type { Account } from "./account.ts";
import { type Budget, budgetsOf } from "./budget.ts";
import type { Level } from "./level.ts";

/** A level that limits a key's calls, and the account that they are counted in there. Made once for each key. */
export interface Bound {
  readonly level: Level;
  readonly account: Account;
  readonly budgets: readonly Budget[];
  /** Its rates as the headers of every answer tell them. */
  readonly rateTexts: { readonly requestsPerMinute: string; readonly tokensPerMinute: string };
}

export const boundOf = (level: Level, account: Account): Bound => ({
  level,
  account,
  budgets: budgetsOf(level.limits),
  rateTexts: {
    requestsPerMinute: String(level.limits.requestsPerMinute),
    tokensPerMinute: String(level.limits.tokensPerMinute),
  },
});
