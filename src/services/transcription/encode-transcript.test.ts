import { describe, expect, test } from "bun:test";
import { encodeTranscript, encodeTranscriptUsage } from "./encode-transcript.ts";
import type { Transcript } from "./transcript.ts";

const SEGMENTS = [
  { text: " One.", start: 0, end: 1.5 },
  { text: " Two.", start: 3_661.25, end: 3_662.0004 },
];
const raw = { text: "One. Two.", duration: 3_662 };
const whole: Transcript = { text: "One. Two.", seconds: 3_662, raw, segments: SEGMENTS };
const { segments: _, ...untimed } = whole;
const USED = { seconds: 3_662 };
const made = "verbose_json" as const;

describe("choices 5: a transcript in the requested format", () => {
  test("subtitles have the times of the segments", () => {
    expect(encodeTranscript(whole, { wanted: "srt", made }, USED).body).toBe(
      "1\n00:00:00,000 --> 00:00:01,500\nOne.\n\n2\n01:01:01,250 --> 01:01:02,000\nTwo.\n\n",
    );
    expect(encodeTranscript(whole, { wanted: "vtt", made }, USED).body).toBe(
      "WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nOne.\n\n01:01:01.250 --> 01:01:02.000\nTwo.\n\n",
    );
  });

  test("without segments there is one, as long as the recording; none for silence; without times it is a failure", () => {
    const srt = (transcript: Transcript) => encodeTranscript(transcript, { wanted: "srt", made }, USED).body;
    expect(srt(untimed)).toBe("1\n00:00:00,000 --> 01:01:02,000\nOne. Two.\n\n");
    expect(srt({ ...untimed, text: " " })).toBe("");
    const { seconds: __, ...timeless } = untimed;
    expect(() => srt(timeless)).toThrow("The provider's response contains no timestamps.");
  });

  test("the host's JSON if that was requested, otherwise the text and the usage", () => {
    const json = (wanted: "json" | "verbose_json", by: "json" | "verbose_json") =>
      JSON.parse(encodeTranscript(whole, { wanted, made: by }, USED).body) as object;
    expect(json("verbose_json", "verbose_json")).toEqual(raw);
    expect(json("json", "verbose_json")).toEqual({ text: "One. Two.", usage: { type: "duration", seconds: 3_662 } });
    expect(encodeTranscript(whole, { wanted: "text", made }, USED).body).toBe("One. Two.\n");
  });
});

test("usage is reported in tokens if there are any, otherwise as a duration", () => {
  expect(encodeTranscriptUsage({})).toEqual({ type: "duration", seconds: 0 });
  expect(encodeTranscriptUsage({ input: 2, audioInput: 18, output: 3 })).toEqual({
    type: "tokens",
    input_tokens: 20,
    input_token_details: { audio_tokens: 18, text_tokens: 2 },
    output_tokens: 3,
    total_tokens: 23,
  });
  expect(encodeTranscriptUsage({ input: 2, output: 3 })).toEqual({
    type: "tokens",
    input_tokens: 2,
    output_tokens: 3,
    total_tokens: 5,
  });
});
