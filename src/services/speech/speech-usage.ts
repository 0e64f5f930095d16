import { textWeight } from "../../base/text-weight.ts";
import type { Usage } from "../../canon/usage.ts";
import { tokensOfCharacters } from "../../dialects/reading/estimate-tokens.ts";
import type { SpeechCall } from "./speech-call.ts";

/** The approximate rate of speech, and the tokens of its audio. */
const CHARACTERS_PER_SECOND = 15;
const TOKENS_PER_SECOND = 21;

/** The units in which a model is priced. */
export interface SpeechPrices {
  byCharacter: boolean;
  bySecond: boolean;
  byToken: boolean;
}

const countCharacters = (text: string): number => [...text].length;

/** The text to speak and its instructions. */
export type SpokenText = Pick<SpeechCall, "input" | "instructions">;

/** Estimates the tokens of a text and of its audio. The instructions are read too. */
export function expectedTokens({ input, instructions = "" }: SpokenText): Usage {
  const seconds = Math.ceil(countCharacters(input) / CHARACTERS_PER_SECOND);
  const read = tokensOfCharacters(textWeight(input)) + tokensOfCharacters(textWeight(instructions));
  return { input: read, audioOutput: seconds * TOKENS_PER_SECOND };
}

/** Estimates the usage of a text in the unit that it is billed by. */
export function expectedSpeech(spoken: SpokenText, { byCharacter, bySecond }: SpeechPrices): Usage {
  const { input } = spoken;
  if (byCharacter) return { characters: countCharacters(input) };
  if (bySecond) return { seconds: Math.ceil(countCharacters(input) / CHARACTERS_PER_SECOND) };
  return expectedTokens(spoken);
}

/** The usage of a text; undefined if it can only be estimated. Its characters are always known. */
export function billedSpeech(input: string, reported: Usage | undefined, prices: SpeechPrices): Usage | undefined {
  if (prices.byCharacter) return { characters: countCharacters(input) };
  if (reported !== undefined && !prices.bySecond) return reported;
  return prices.bySecond || prices.byToken ? undefined : { characters: countCharacters(input) };
}
