import type { Stop } from "../../canon/stop.ts";
import {
  type CorrectionReason,
  completionTokens,
  promptTokens,
  type Usage,
  type UsageCounter,
} from "../../canon/usage.ts";
import { tokensOfCharacters } from "../../dialects/reading/estimate-tokens.ts";
import { tokensCover } from "./tokens-cover.ts";

/** The highest possible usage, given the request and the response. */
export interface UsageBounds {
  prompt: number;
  completion: number;
}

/** What the gateway itself knows about a response. */
export interface SeenAnswer {
  /** Whether it is complete: for a part, no usage is too small. */
  whole: boolean;
  characters: number;
  stop: Stop | undefined;
  estimatePrompt: () => Pick<Usage, "input" | "cacheRead">;
  bounds: UsageBounds;
}

interface Corrected {
  usage: Usage;
  /** Empty if the usage is billed as reported. */
  reasons: readonly CorrectionReason[];
}

const NONE: readonly CorrectionReason[] = [];

/**
 * Compares a reported usage with what is possible (decision 0085). A usage that is too small or missing is replaced by an estimate
 * of what passed through, one that is too large by its bound. Zero is valid unless text contradicts it, and always valid with a
 * filter stop: the host blocked the call and bills nothing (H39).
 */
export function correctUsage(reported: Usage, seen: SeenAnswer): Corrected {
  const reasons = reasonsAgainst(reported, seen);
  if (reasons.length === 0) return { usage: reported, reasons };
  let usage = { ...reported };
  for (const reason of reasons) {
    switch (reason) {
      case "prompt_missing":
        usage = { ...usage, ...seen.estimatePrompt() };
        break;
      case "prompt_above_context":
        usage = { ...withoutCounters(usage, PROMPT), ...seen.estimatePrompt() };
        break;
      case "output_below_text":
        usage.output = tokensOfCharacters(seen.characters);
        break;
      case "output_above_limit":
        fillUpTo(usage, seen.bounds.completion);
        break;
    }
  }
  return { usage, reasons };
}

function reasonsAgainst(reported: Usage, { whole, characters, stop, bounds }: SeenAnswer): readonly CorrectionReason[] {
  const prompt = promptTokens(reported);
  const completion = completionTokens(reported);
  const isBlocked = stop?.unified === "filter";
  const reasons: CorrectionReason[] = [];
  if (whole && prompt === 0 && !isBlocked) reasons.push("prompt_missing");
  if (prompt > bounds.prompt) reasons.push("prompt_above_context");
  if (whole && !tokensCover(completion, characters) && !(isBlocked && completion === 0))
    reasons.push("output_below_text");
  if (completion > bounds.completion) reasons.push("output_above_limit");
  return reasons.length === 0 ? NONE : reasons;
}

const PROMPT: readonly UsageCounter[] = [
  "input",
  "cacheRead",
  "cacheWrite5m",
  "cacheWrite1h",
  "imageInput",
  "audioInput",
];
const COMPLETION: readonly UsageCounter[] = ["output", "reasoning", "imageOutput", "audioOutput"];

const withoutCounters = (usage: Usage, counters: readonly UsageCounter[]): Usage =>
  Object.fromEntries(Object.entries(usage).filter(([name]) => !counters.includes(name as UsageCounter))) as Usage;

/** Cuts the output to this many tokens. The smaller counters are kept, because the largest is the implausible one. */
function fillUpTo(usage: Usage, most: number): void {
  let left = most;
  const counted = COMPLETION.filter((counter) => usage[counter] !== undefined);
  for (const counter of counted.sort((one, other) => (usage[one] ?? 0) - (usage[other] ?? 0))) {
    const kept = Math.min(usage[counter] ?? 0, left);
    usage[counter] = kept;
    left -= kept;
  }
}
