import { speak } from "./speak.ts";
import { SPEECH_RATE } from "./tones.ts";

/** A sentence in the simulator's voice: 16 bits, mono. */
export function sayAloud(text: string): { samples: Int16Array; rate: number } {
  const bytes = speak(text, { voice: "alloy", speed: 1 });
  return { samples: new Int16Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 2), rate: SPEECH_RATE };
}
