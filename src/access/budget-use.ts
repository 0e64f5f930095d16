import type { Level } from "./level.ts";
import type { BudgetWindow } from "./spend-meter.ts";

/** How much of a budget is used. */
export interface BudgetUse {
  level: Level["level"];
  /** Of the key, or of the project; `gateway` for all together. */
  id: string;
  name: string;
  window: BudgetWindow;
  spentNanoUsd: number;
  limitNanoUsd: number;
  /** 1 is all of it. */
  ratio: number;
}
