import type { JsonObject } from "../../../json.ts";
import { countTokens } from "../../../text/tokens.ts";
import type { Heard } from "../../../voice/hear.ts";
import { sentencesOf, type Timed, wordsOf } from "../../../voice/listen.ts";
import type { ListeningModel } from "./audio-models.ts";

/** Tokens that a second of sound counts. */
const TOKENS_PER_SECOND = 10;

/** What the answer says where the recording is not the simulator's own voice. */
const UNHEARD = "The simulator hears no words in this recording.";

/** What was heard, as the answers of the host show it. */
export interface Transcript {
  task: "transcribe" | "translate";
  text: string;
  seconds: number;
  sentences: readonly Timed[];
  words: readonly Timed[];
}

export function transcriptOf(heard: Heard, task: Transcript["task"]): Transcript {
  const { text = UNHEARD, seconds } = heard;
  const understood = heard.text === undefined ? [] : sentencesOf(heard);
  const sentences = understood.length > 0 ? understood : [{ text, start: 0, end: seconds }];
  return { task, text, seconds, sentences, words: wordsOf(heard) };
}

export function usageOf({ text, seconds }: Transcript, counts: ListeningModel["counts"], prompt: string): JsonObject {
  if (counts === "seconds") return { type: "duration", seconds: Math.ceil(seconds) };
  const [audio, given, output] = [Math.ceil(seconds * TOKENS_PER_SECOND), countTokens(prompt), countTokens(text)];
  return {
    type: "tokens",
    input_tokens: audio + given,
    input_token_details: { audio_tokens: audio, text_tokens: given },
    output_tokens: output,
    total_tokens: audio + given + output,
  };
}

export function verboseOf(transcript: Transcript, granularities: readonly string[]): JsonObject {
  const { task, text, seconds, sentences, words } = transcript;
  return {
    task,
    language: "english",
    duration: Math.round(seconds * 100) / 100,
    text,
    ...(granularities.includes("word")
      ? { words: words.map(({ text: word, start, end }) => ({ word, start, end })) }
      : {}),
    ...(granularities.length === 0 || granularities.includes("segment") ? { segments: sentences.map(segmentOf) } : {}),
  };
}

const segmentOf = ({ text, start, end }: Timed, id: number): JsonObject => ({
  id,
  seek: 0,
  start,
  end,
  text,
  tokens: [],
  temperature: 0,
  avg_logprob: -0.1,
  compression_ratio: 1,
  no_speech_prob: 0,
});

export function diarizedOf({ text, seconds, sentences }: Transcript): JsonObject {
  const segments = sentences.map(({ text: said, start, end }, at) => ({
    type: "transcript.text.segment",
    id: `seg_${at}`,
    start,
    end,
    text: said,
    speaker: "A",
  }));
  return { task: "transcribe", duration: seconds, text, segments };
}

export const srtOf = ({ sentences }: Transcript): string =>
  sentences.map((one, at) => `${at + 1}\n${span(one, ",")}\n${one.text.trim()}\n\n`).join("");

export const vttOf = ({ sentences }: Transcript): string =>
  `WEBVTT\n\n${sentences.map((one) => `${span(one, ".")}\n${one.text.trim()}\n\n`).join("")}`;

const span = ({ start, end }: Timed, mark: string): string => `${clock(start, mark)} --> ${clock(end, mark)}`;

function clock(seconds: number, mark: string): string {
  const ms = Math.round(seconds * 1_000);
  const two = (value: number): string => String(Math.floor(value)).padStart(2, "0");
  const rest = String(ms % 1_000).padStart(3, "0");
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1_000) % 60)}${mark}${rest}`;
}
