import { speak } from "../voice/speak.ts";

/** A part of a spoken answer: its sound, and the words that belong to it. */
export interface SpeechPart {
  bytes: Uint8Array;
  words: string;
}

interface SpeechForm {
  voice: string;
  /** 1 is the ordinary speed. */
  speed: number;
  /** Puts samples at SPEECH_RATE into the bytes that are sent. */
  encode: (samples: Int16Array) => Uint8Array;
  /** How many bytes a part has. */
  partBytes: number;
}

/** A spoken answer in parts. */
export function speechParts(text: string, { voice, speed, encode, partBytes }: SpeechForm): SpeechPart[] {
  const spoken = speak(text, { voice, speed });
  const bytes = encode(new Int16Array(spoken.buffer, spoken.byteOffset, spoken.byteLength / 2));
  const count = Math.max(1, Math.ceil(bytes.length / partBytes));
  let shown = 0;
  return Array.from({ length: count }, (_, index) => {
    const share = Math.round((text.length * (index + 1)) / count);
    const until = Math.max(shown, index === count - 1 ? text.length : wordEnd(text, share));
    const words = text.slice(shown, until);
    shown = until;
    return { bytes: bytes.subarray(index * partBytes, (index + 1) * partBytes), words };
  });
}

/** The end of the word at a place, so that no word and no character is cut. */
function wordEnd(text: string, at: number): number {
  const next = text.slice(at).search(/\s/);
  return next < 0 ? text.length : at + next;
}
