import type { Usage } from "../../canon/usage.ts";

interface ReportedPrompt {
  /** All tokens of the prompt, cached ones included. */
  prompt: number;
  cacheRead?: number | undefined;
  cacheWrite?: number | undefined;
  /** Tokens of sound in the prompt. */
  audio?: number | undefined;
  /** What the total leaves for the prompt; undefined where the host reports no total. */
  leftByTotal?: number | undefined;
}

type PromptCounts = Pick<Usage, "input" | "audioInput" | "cacheRead" | "cacheWrite5m">;

/**
 * The prompt's counters, of protocols whose prompt includes what was read from a cache and written to one. Each token counts
 * once: what is cached leaves the input, be it text or sound (H36, H37). Where more is cached than the prompt has, the prompt
 * was counted too small, and what is cached holds; the prompt is then in addition to it as far as the total has room (H38).
 */
export function promptCounts({ prompt, cacheRead, cacheWrite, audio = 0, leftByTotal }: ReportedPrompt): PromptCounts {
  const cached = (cacheRead ?? 0) + (cacheWrite ?? 0);
  const uncached = cached > prompt ? Math.min(prompt, Math.max(0, (leftByTotal ?? 0) - cached)) : prompt - cached;
  const audioInput = Math.min(Math.max(0, audio), uncached);
  const counts: PromptCounts = { input: uncached - audioInput };
  if (audioInput > 0) counts.audioInput = audioInput;
  if (cacheRead !== undefined) counts.cacheRead = cacheRead;
  if (cacheWrite !== undefined) counts.cacheWrite5m = cacheWrite;
  return counts;
}
