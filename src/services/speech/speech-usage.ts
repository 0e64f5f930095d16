import { textWeight } from "../../base/text-weight.ts";
import type { Usage } from "../../canon/usage.ts";
import { tokensOfCharacters } from "../../dialects/reading/estimate-tokens.ts";
import type { SpeechCall } from "./speech-call.ts";

/** About how fast a text is spoken, and how many tokens its sound has. */
const CHARACTERS_PER_SECOND = 15;
const TOKENS_PER_SECOND = 21;

/** By what a model is priced, as far as it matters here. */
export interface SpeechPrices {
  byCharacter: boolean;
  bySecond: boolean;
  byToken: boolean;
}

export const countCharacters = (text: string): number => [...text].length;

/** What is to be spoken, and how. */
export type SpokenText = Pick<SpeechCall, "input" | "instructions">;

/** About the tokens of a text, and of its sound. What is said of how to speak it is read too. */
export function expectedTokens({ input, instructions = "" }: SpokenText): Usage {
  const seconds = Math.ceil(countCharacters(input) / CHARACTERS_PER_SECOND);
  const read = tokensOfCharacters(textWeight(input)) + tokensOfCharacters(textWeight(instructions));
  return { input: read, audioOutput: seconds * TOKENS_PER_SECOND };
}

/** What a text will use, in the unit that it is paid by. */
export function expectedSpeech(spoken: SpokenText, { byCharacter, bySecond }: SpeechPrices): Usage {
  const { input } = spoken;
  if (byCharacter) return { characters: countCharacters(input) };
  if (bySecond) return { seconds: Math.ceil(countCharacters(input) / CHARACTERS_PER_SECOND) };
  return expectedTokens(spoken);
}

/** What a text has used; undefined where that can only be estimated. Its characters are known, whatever the host says. */
export function billedSpeech(input: string, reported: Usage | undefined, prices: SpeechPrices): Usage | undefined {
  if (prices.byCharacter) return { characters: countCharacters(input) };
  if (reported !== undefined && !prices.bySecond) return reported;
  return prices.bySecond || prices.byToken ? undefined : { characters: countCharacters(input) };
}
