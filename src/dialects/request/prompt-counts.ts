import type { JsonObject } from "../../base/json.ts";
import { countAt, type Usage } from "../../canon/usage.ts";

interface ReportedPrompt {
  /** All tokens of the prompt, including cached ones. */
  prompt: number;
  cacheRead?: number | undefined;
  cacheWrite?: number | undefined;
  /** Audio tokens in the prompt. */
  audio?: number | undefined;
  /** What the total leaves for the prompt; undefined if the host reports no total. */
  leftByTotal?: number | undefined;
}

type PromptCounts = Pick<Usage, "input" | "audioInput" | "cacheRead" | "cacheWrite5m">;

/**
 * The prompt counters for protocols whose prompt count includes cache reads and writes. Each token counts once: cached tokens are
 * subtracted from the input, text or audio (H36, H37). If more is cached than the prompt has, the prompt was undercounted: the
 * cached counts are kept, and the prompt is added as far as the total has room (H38). What was written counts as written, and as read
 * only the rest of the prompt.
 */
export function promptCounts({
  prompt,
  cacheWrite,
  audio = 0,
  leftByTotal,
  ...reported
}: ReportedPrompt): PromptCounts {
  const cacheRead = readOnly(reported.cacheRead, cacheWrite, Math.max(prompt, leftByTotal ?? 0));
  const cached = (cacheRead ?? 0) + (cacheWrite ?? 0);
  const uncached = cached > prompt ? Math.min(prompt, Math.max(0, (leftByTotal ?? 0) - cached)) : prompt - cached;
  const audioInput = Math.min(Math.max(0, audio), uncached);
  const counts: PromptCounts = { input: uncached - audioInput };
  if (audioInput > 0) counts.audioInput = audioInput;
  if (cacheRead !== undefined) counts.cacheRead = cacheRead;
  if (cacheWrite !== undefined) counts.cacheWrite5m = cacheWrite;
  return counts;
}

/** The details of a prompt for the client, if the host counts a token in them as read and as written; otherwise undefined. */
export function countedOnce(details: JsonObject | undefined, { cacheRead = 0 }: Usage): JsonObject | undefined {
  if (!countAt(details, "cache_write_tokens") || (countAt(details, "cached_tokens") ?? 0) <= cacheRead)
    return undefined;
  return { ...details, cached_tokens: cacheRead };
}

/** Some hosts count what they wrote to a cache as read from it too. */
function readOnly(read: number | undefined, written: number | undefined, prompt: number): number | undefined {
  if (read === undefined || !written || read > prompt || written > prompt) return read;
  return Math.min(read, prompt - written);
}
