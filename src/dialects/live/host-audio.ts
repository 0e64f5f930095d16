import { AudioConverter, bytesPerSecond, isSameFormat } from "../../audio/audio-converter.ts";
import type { LiveAudioFormat } from "../../canon/live.ts";
import { frameOf } from "./frame-of.ts";

const MS_PER_SECOND = 1000;
const HOST_INPUT: LiveAudioFormat = { type: "pcm", rate: 16_000 };
/** Two minutes of speech that waits for its end. */
const MAX_HELD_BYTES = 4 * 1024 * 1024;

/** Base64 needs no escapes. */
const audioFrame = (audio: Uint8Array): string =>
  `{"realtimeInput":{"audio":{"data":"${Buffer.from(audio.buffer, audio.byteOffset, audio.byteLength).toString("base64")}","mimeType":"audio/pcm;rate=16000"}}}`;

/** The user's audio on its way to the host: in the host's format, and without turn detection held until it is committed and answered. */
export class HostAudio {
  #input: { format: LiveAudioFormat; converter: AudioConverter } | undefined;
  #held: string[] = [];
  #heldBytes = 0;
  #isCommitted = false;
  #sentBytes = 0;

  get isHeld(): boolean {
    return this.#held.length > 0;
  }

  get hasSent(): boolean {
    return this.#sentBytes > 0;
  }

  /** How much of the session's audio the host has. */
  get heardMs(): number {
    return Math.round((this.#sentBytes / bytesPerSecond(HOST_INPUT)) * MS_PER_SECOND);
  }

  convert(audio: Uint8Array, format: LiveAudioFormat): Uint8Array {
    let input = this.#input;
    if (input === undefined || !isSameFormat(input.format, format)) {
      input = { format, converter: new AudioConverter(format, HOST_INPUT) };
      this.#input = input;
    }
    return input.converter.push(audio);
  }

  /** The frame of converted audio that is sent at once. */
  pass(audio: Uint8Array): string {
    this.#sentBytes += audio.length;
    return audioFrame(audio);
  }

  /** Keeps converted audio. Returns false if it is too much. */
  hold(audio: Uint8Array): boolean {
    if (this.#heldBytes + audio.length > MAX_HELD_BYTES) return false;
    this.#heldBytes += audio.length;
    this.#held.push(audioFrame(audio));
    return true;
  }

  /** What is left in the converter. */
  flush(): string[] {
    const rest = this.#input?.converter.flush();
    return rest === undefined || rest.length === 0 ? [] : [audioFrame(rest)];
  }

  /** Returns false if nothing is held. */
  commit(): boolean {
    this.#held.push(...this.flush());
    if (this.#held.length === 0) return false;
    this.#isCommitted = true;
    return true;
  }

  /** Forgets what is held, unless it is committed: that is part of the conversation. */
  forgetHeld(): void {
    if (this.#isCommitted) return;
    this.#held = [];
    this.#heldBytes = 0;
  }

  /** What was held, as the speech of one turn. */
  takeHeld(): string[] {
    this.#held.push(...this.flush());
    const frames = [
      frameOf({ realtimeInput: { activityStart: {} } }),
      ...this.#held,
      frameOf({ realtimeInput: { activityEnd: {} } }),
    ];
    this.#sentBytes += this.#heldBytes;
    this.#held = [];
    this.#heldBytes = 0;
    this.#isCommitted = false;
    return frames;
  }
}
