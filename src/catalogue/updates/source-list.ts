import type { ModelPatch } from "./model-patch.ts";

/** What a published list says about the models that this program can call. */
export interface SourceList {
  /** A model's `id` is its publisher and its name in the list. */
  models: ModelPatch[];
  /** The context length is that of the prompt alone, so it is used for new models only. */
  contextIsPrompt?: true;
  /** How many models were left out, by reason. */
  skipped: Record<string, number>;
  /** How often a price was found that the catalogue has no name for, by the list's name for it. */
  unread: Record<string, number>;
}

/** Counts one more in a list's report. */
export function countIn(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

/** Fewer digits than a float has, so that 0.0000025 × 1,000,000 is 2.5. */
const SIGNIFICANT_DIGITS = 12;

export const rounded = (value: number): number => Number(value.toPrecision(SIGNIFICANT_DIGITS));
