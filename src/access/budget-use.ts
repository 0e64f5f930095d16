import type { Level } from "./level.ts";
import type { BudgetWindow } from "./spend-meter.ts";

/** How much of a budget is used. */
export interface BudgetUse {
  level: Level["level"];
  /** The id of the key or project; `gateway` for all of them. */
  id: string;
  name: string;
  window: BudgetWindow;
  spentNanoUsd: number;
  limitNanoUsd: number;
  /** 1 means all of it. */
  ratio: number;
}
