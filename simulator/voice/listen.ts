import { type Heard, hear } from "./hear.ts";
import { readMp3 } from "./mp3.ts";
import { SPEECH_RATE } from "./tones.ts";
import { firstChannel, readWav } from "./wav.ts";

/** Of a recording that cannot be opened only the size is known: what a second of good compressed speech takes. */
const BYTES_PER_SECOND = 8_000;

/** The text spoken in an audio file: WAV, an MP3 made by the simulator, or raw samples. */
export function listen(bytes: Uint8Array, isBareSamples = false): Heard {
  const sound = isBareSamples ? { samples: firstChannel(bytes, 1), rate: SPEECH_RATE } : readWav(bytes);
  if (sound !== undefined) return hear(sound.samples, sound.rate);
  const tagged = readMp3(bytes);
  const unheard = { text: undefined, seconds: bytes.length / BYTES_PER_SECOND, beginsAt: 0, secondsPerByte: 0 };
  if (tagged === undefined) return unheard;
  return { ...tagged, beginsAt: 0, secondsPerByte: tagged.seconds / Math.max(1, Buffer.byteLength(tagged.text)) };
}

/** Part of what was heard, and when. */
export interface Timed {
  text: string;
  start: number;
  end: number;
}

/** What was heard, word by word. */
export const wordsOf = (heard: Heard): Timed[] => timed(heard, /\S+/g);

/** The same, sentence by sentence. */
export const sentencesOf = (heard: Heard): Timed[] => timed(heard, /\s*[^.!?]+[.!?]*/g);

function timed({ text = "", beginsAt, secondsPerByte }: Heard, pattern: RegExp): Timed[] {
  return [...text.matchAll(pattern)].map(({ 0: part, index }) => {
    const start = beginsAt + Buffer.byteLength(text.slice(0, index)) * secondsPerByte;
    return { text: part, start: round(start), end: round(start + Buffer.byteLength(part) * secondsPerByte) };
  });
}

const round = (seconds: number): number => Math.round(seconds * 100) / 100;
