import { textWeight } from "../../base/text-weight.ts";
import type { Usage } from "../../canon/usage.ts";
import { tokensOfCharacters } from "../../dialects/estimate-tokens.ts";

/** About how fast a text is spoken, and how many tokens its sound has. */
const CHARACTERS_PER_SECOND = 15;
const TOKENS_PER_SECOND = 21;

/** By what a model is priced, as far as it matters here. */
export interface SpeechPrices {
  byCharacter: boolean;
  bySecond: boolean;
  byToken: boolean;
}

export const charactersOf = (text: string): number => [...text].length;

/** About the tokens of a text, and of its sound. */
export function expectedTokens(input: string): Usage {
  const seconds = Math.ceil(charactersOf(input) / CHARACTERS_PER_SECOND);
  return { input: tokensOfCharacters(textWeight(input)), audioOutput: seconds * TOKENS_PER_SECOND };
}

/** What a text will use, in the unit that it is paid by. */
export function expectedSpeech(input: string, { byCharacter, bySecond }: SpeechPrices): Usage {
  if (byCharacter) return { characters: charactersOf(input) };
  if (bySecond) return { seconds: Math.ceil(charactersOf(input) / CHARACTERS_PER_SECOND) };
  return expectedTokens(input);
}

/** What a text has used; undefined where that can only be estimated. Its characters are known, whatever the host says. */
export function billedSpeech(input: string, reported: Usage | undefined, prices: SpeechPrices): Usage | undefined {
  if (prices.byCharacter) return { characters: charactersOf(input) };
  if (reported !== undefined && !prices.bySecond) return reported;
  return prices.bySecond || prices.byToken ? undefined : { characters: charactersOf(input) };
}
