import { isObject } from "../../base/json.ts";
import type { Notes } from "../../canon/notes.ts";
import { EFFORTS, type Effort, effortOfBudget, nearestEffort, type ReasoningAmount } from "../../canon/reasoning.ts";

/** The word for no effort in protocols whose efforts are words. */
const OFF_WORD = "none";

export function effortOfWord(word: unknown): Effort | undefined {
  if (word === OFF_WORD) return "off";
  return EFFORTS.find((effort) => effort === word);
}

/** The efforts that a host or a model accepts. */
export interface EffortWords {
  /** Weakest first. */
  known: readonly Effort[];
  /** The host's words for them. */
  words: Partial<Record<Effort, string>>;
}

/** The word for an amount of reasoning: the nearest one that is accepted. A difference is noted. */
export function encodeEffort(
  amount: ReasoningAmount,
  path: string,
  { known, words }: EffortWords,
  notes: Notes,
): string {
  const wanted = isObject(amount) ? effortOfBudget(amount.budget) : amount === "dynamic" ? "medium" : amount;
  const effort = nearestEffort(wanted, known) ?? wanted;
  const word = words[effort] ?? (effort === "off" ? OFF_WORD : effort);
  if (isObject(amount)) notes.approximated(path, `this provider accepts an effort, not a budget; ${word} was sent`);
  else if (amount === "dynamic") notes.approximated(path, `this provider accepts an effort; ${word} was sent`);
  else if (effort !== amount) notes.approximated(path, `this model does not support that effort; ${word} was sent`);
  return word;
}
