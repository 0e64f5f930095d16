import { describe, expect, test } from "bun:test";
import { listen, sentencesOf, wordsOf } from "./listen.ts";
import { writeMp3 } from "./mp3.ts";
import { speak } from "./speak.ts";
import { SPEECH_RATE } from "./tones.ts";
import { readWav, writeWav } from "./wav.ts";

const SENTENCES = ["Hello.", "The quick brown fox jumps over 13 lazy dogs!", "Grüße, 世界 🎧", ""];

const say = (text: string, { voice = "alloy", speed = 1 } = {}) => speak(text, { voice, speed });

describe("a sentence is sound that can be understood again", () => {
  test("as samples and as WAV, in every voice and at every speed", () => {
    for (const text of SENTENCES) {
      for (const speed of [0.25, 1, 1.7, 4]) {
        for (const voice of ["alloy", "marin"]) {
          const samples = say(text, { voice, speed });
          expect(listen(samples, true).text).toBe(text);
          expect(listen(writeWav(samples, SPEECH_RATE)).text).toBe(text);
        }
      }
    }
  });

  test("voices sound different, speed makes it shorter, and it is as loud as speech", () => {
    expect(say("Hello.", { voice: "marin" })).not.toEqual(say("Hello."));
    expect(say("Hello.", { speed: 2 }).length).toBeLessThan(say("Hello.").length);
    const { samples = new Int16Array() } = readWav(writeWav(say("Hello."), SPEECH_RATE)) ?? {};
    expect(Math.max(...samples)).toBeGreaterThan(5_000);
    expect(Math.max(...samples)).toBeLessThan(20_000);
  });

  test("also quieter, after silence, and with half of the samples", () => {
    const { samples } = readWav(writeWav(say("Played from far away."), SPEECH_RATE)) ?? { samples: new Int16Array() };
    const quiet = Int16Array.from([...new Int16Array(5_000), ...samples], (sample) => sample / 8);
    expect(listen(new Uint8Array(quiet.buffer), true).text).toBe("Played from far away.");
    const slower = samples.filter((_, index) => index % 2 === 0);
    expect(listen(writeWav(new Uint8Array(slower.buffer), SPEECH_RATE / 2)).text).toBe("Played from far away.");
  });

  test("as MP3 in the words of its tag, of the same length", () => {
    const heard = listen(writeMp3("Grüße, 世界", 2));
    expect(heard.text).toBe("Grüße, 世界");
    expect(heard.seconds).toBeCloseTo(2, 1);
  });

  test("other sounds are not understood", () => {
    const noise = Int16Array.from({ length: 20_000 }, (_, index) => ((index * 7_919) % 20_011) - 10_000);
    expect(listen(writeWav(new Uint8Array(noise.buffer), SPEECH_RATE))).toMatchObject({ text: undefined });
    expect(listen(writeWav(new Uint8Array(8_000), SPEECH_RATE)).text).toBeUndefined();
    expect(listen(new TextEncoder().encode("fLaC nothing")).text).toBeUndefined();
    expect(listen(new Uint8Array()).seconds).toBe(0);
  });

  test("words and sentences have their times", () => {
    const heard = listen(say("One two. Three."), true);
    expect(wordsOf(heard).map(({ text }) => text)).toEqual(["One", "two.", "Three."]);
    const [first, second] = sentencesOf(heard);
    expect(first?.text).toBe("One two.");
    expect(second?.start).toBe(first?.end as number);
    expect(second?.end).toBeCloseTo(heard.seconds, 1);
  });
});
