import { completionTokens, promptTokens, type Usage } from "../canon/usage.ts";
import { tokensOfCharacters } from "../dialects/estimate-tokens.ts";

/** More characters than any tokenizer has in a token, runs of blanks included. */
const MAX_CHARACTERS_PER_TOKEN = 256;

/** Whether so many tokens can have said so much. */
export const isEnough = (tokens: number, characters: number): boolean =>
  characters === 0 || (tokens > 0 && tokens * MAX_CHARACTERS_PER_TOKEN >= characters);

/** Whether a usage may be true: it has a prompt, output beside a text, and no more from a cache than there was of a prompt. */
export const isPlausible = (reported: Usage, generatedCharacters: number): boolean =>
  !reported.doubtful && promptTokens(reported) > 0 && isEnough(completionTokens(reported), generatedCharacters);

/** What is billed for a usage that cannot be true. What is wrong is bounded by what passed through. */
export function correctedUsage(reported: Usage, generatedCharacters: number, estimatedInput: number): Usage {
  const { doubtful, ...usage } = reported;
  if (!isEnough(completionTokens(reported), generatedCharacters))
    usage.output = tokensOfCharacters(generatedCharacters);
  if (!(promptTokens(reported) > 0)) usage.input = estimatedInput;
  if (doubtful) {
    const uncached = (usage.input ?? 0) + (usage.cacheWrite5m ?? 0) + (usage.cacheWrite1h ?? 0);
    usage.cacheRead = Math.min(usage.cacheRead ?? 0, Math.max(0, estimatedInput - uncached));
  }
  return usage;
}
