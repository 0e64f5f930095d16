import type { AudioConverter } from "../../audio/audio-converter.ts";
import type { Clock } from "../../base/clock.ts";
import { system } from "../../base/system.ts";
import type { LiveAudioFormat } from "../../canon/live.ts";
import type { TalkSocket } from "./talk-socket.ts";

/** One turn of a user. */
export interface TalkRequest {
  model: string;
  /** What the user says: words that are written, or sound in the format that the protocol takes. */
  input: { text: string } | { sound: Uint8Array };
  instructions: string | undefined;
  voice: string | undefined;
  /** How much faster than speech the sound is sent; 0 for no pause. */
  pace: number;
  onHeard: (text: string) => void;
  onSaid: (text: string) => void;
  signal: AbortSignal;
}

/** The answer to it. */
export interface TalkAnswer {
  /** What was understood; undefined if the host transcribes nothing. */
  heard: string | undefined;
  said: string;
  /** 16 bits, mono, at OUTPUT_RATE. */
  sound: Uint8Array;
  firstSoundMs: number | undefined;
  /** Tokens, as the host counts them. */
  usage: { input: number | undefined; output: number | undefined };
  /** How it ended, such as `completed`. */
  status: string;
  /** The session at the gateway, which its receipts name. */
  session: string | undefined;
  /** The receipt of the turn; undefined where the protocol has no field for it. */
  receipt: string | undefined;
}

/** A protocol of live connections. */
export interface TalkProtocol {
  path: (model: string) => string;
  headers: (key: string) => Record<string, string>;
  /** The format of the sound that is sent. */
  input: LiveAudioFormat;
  talk: (socket: TalkSocket, request: TalkRequest) => Promise<TalkAnswer>;
}

/** The samples per second of answers in both protocols. */
export const OUTPUT_RATE = 24_000;

const FRAME_SECONDS = 0.04;
const BYTES_PER_SAMPLE = 2;

/** Sends sound in frames, as a microphone does. */
export async function sendSound(
  sound: Uint8Array,
  {
    rate,
    pace,
    signal,
    clock = system.clock,
  }: { rate: number; pace: number; signal: AbortSignal; clock?: Pick<Clock, "nowMs" | "sleep"> },
  send: (frame: Uint8Array) => Promise<boolean>,
): Promise<void> {
  const frameBytes = Math.round(rate * FRAME_SECONDS) * BYTES_PER_SAMPLE;
  const startMs = clock.nowMs();
  for (let at = 0; at < sound.length && !signal.aborted; at += frameBytes) {
    if (!(await send(sound.subarray(at, at + frameBytes)))) return;
    if (pace === 0) continue;
    const dueMs = startMs + ((at + frameBytes) / BYTES_PER_SAMPLE / rate / pace) * 1_000;
    const waitMs = dueMs - clock.nowMs();
    if (waitMs > 0) await clock.sleep(waitMs);
  }
}

/** All of a recording in another format. */
export function convertAll(converter: AudioConverter, samples: Int16Array): Uint8Array {
  const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
  return Buffer.concat([converter.push(bytes), converter.flush()]);
}
