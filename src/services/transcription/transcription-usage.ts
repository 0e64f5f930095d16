import { textWeight } from "../../base/text-weight.ts";
import { promptTokens, type Usage } from "../../canon/usage.ts";
import { tokensOfCharacters } from "../../dialects/reading/estimate-tokens.ts";
import { leastSeconds, soundSeconds } from "./sound-seconds.ts";

/** The approximate tokens per second of audio, and the rate of speech. */
const TOKENS_PER_SECOND = 10;
const CHARACTERS_PER_SECOND = 15;

interface HeardText {
  file: Uint8Array;
  /** Where it is known. */
  text?: string;
}

/** Estimates the usage of a recording in the unit that it is billed by, if the host does not report it. */
export function expectedTranscription({ file, text }: HeardText, bySecond: boolean): Usage {
  const seconds = soundSeconds(file);
  if (bySecond) return { seconds: Math.ceil(seconds) };
  const spoken = text === undefined ? seconds * CHARACTERS_PER_SECOND : textWeight(text);
  return { audioInput: Math.ceil(seconds * TOKENS_PER_SECOND), output: tokensOfCharacters(spoken) };
}

/** The usage of a recording; undefined if it can only be estimated. */
export function billedTranscription(reported: Usage | undefined, bySecond: boolean): Usage | undefined {
  if (reported === undefined) return undefined;
  const { seconds, ...tokens } = reported;
  if (bySecond) return seconds === undefined ? undefined : { seconds };
  return Object.keys(tokens).length > 0 ? tokens : undefined;
}

/** Hosts cut silence at the ends, and round. */
const LEAST_SHARE = 0.5;
const LEAST_TOKENS_PER_SECOND = 1;

/** Whether the reported usage can cover a recording of this length (H27). */
export function hearsAll(file: Uint8Array, bySecond: boolean): (reported: Usage) => boolean {
  const least = leastSeconds(file) * LEAST_SHARE;
  return (reported) =>
    bySecond ? (reported.seconds ?? 0) >= least : promptTokens(reported) >= least * LEAST_TOKENS_PER_SECOND;
}
