import { completionTokens, promptTokens, type Usage } from "../canon/usage.ts";
import { tokensOfCharacters } from "../dialects/estimate-tokens.ts";

/** More characters than any tokenizer has in a token, runs of blanks included. */
const MAX_CHARACTERS_PER_TOKEN = 256;

/** Whether so many tokens can have said so much. */
export const isEnough = (tokens: number, characters: number): boolean =>
  characters === 0 || (tokens > 0 && tokens * MAX_CHARACTERS_PER_TOKEN >= characters);

/**
 * What is billed for a usage that cannot be true: no prompt, no output beside a text, more from a cache than there was of a
 * prompt. What is wrong is bounded by what passed through. Undefined where there is nothing wrong.
 */
export function correctedUsage(
  reported: Usage,
  generatedCharacters: number,
  estimateInput: () => number,
): Usage | undefined {
  const said = isEnough(completionTokens(reported), generatedCharacters);
  const asked = promptTokens(reported) > 0;
  if (said && asked && !reported.doubtful) return undefined;
  const { doubtful, ...usage } = reported;
  if (!said) usage.output = tokensOfCharacters(generatedCharacters);
  if (!asked) usage.input = estimateInput();
  if (doubtful) {
    const uncached = (usage.input ?? 0) + (usage.cacheWrite5m ?? 0) + (usage.cacheWrite1h ?? 0);
    usage.cacheRead = Math.min(usage.cacheRead ?? 0, Math.max(0, estimateInput() - uncached));
  }
  return usage;
}
