import { AudioConverter, bytesPerSecond, isSameFormat } from "../../audio/audio-converter.ts";
import type { LiveAudioFormat } from "../../canon/live.ts";

const MS_PER_SECOND = 1000;
/** More silence than any host waits for before it takes the user to have finished. */
const CLOSING_SILENCE_MS = 1500;

/** The host's buffer for the user's speech, in the format that the host gets. */
export class HostInput {
  format: LiveAudioFormat;
  #from: { format: LiveAudioFormat; converter: AudioConverter } | undefined;
  /** Bytes in the buffer. Only known without turn detection. */
  #buffered = 0;

  constructor(format: LiveAudioFormat) {
    this.format = format;
  }

  /** Events that append audio of any format. */
  push(audio: Uint8Array, format: LiveAudioFormat): readonly string[] {
    let from = this.#from;
    if (from === undefined || !isSameFormat(from.format, format)) {
      from = { format, converter: new AudioConverter(format, this.format) };
      this.#from = from;
    }
    return this.#append(from.converter.push(audio));
  }

  /** The rest of the audio, which the converter has held back. */
  flush(): readonly string[] {
    return this.#append(this.#from?.converter.flush());
  }

  /** A host that detects turns hears silence, and takes the user to have finished. */
  appendSilence(): readonly string[] {
    const { format } = this;
    const silence = new Uint8Array((bytesPerSecond(format) * CLOSING_SILENCE_MS) / MS_PER_SECOND);
    if (format.type !== "pcm") silence.fill(format.type === "pcmu" ? 0xff : 0xd5);
    return this.#append(silence);
  }

  /** The buffer was committed or cleared. Returns how much was in it. */
  empty(): number {
    const heardMs = (this.#buffered / bytesPerSecond(this.format)) * MS_PER_SECOND;
    this.#buffered = 0;
    return heardMs;
  }

  #append(audio: Uint8Array | undefined): readonly string[] {
    if (audio === undefined || audio.length === 0) return [];
    this.#buffered += audio.length;
    // Base64 needs no escapes.
    return [
      `{"type":"input_audio_buffer.append","audio":"${Buffer.from(audio.buffer, audio.byteOffset, audio.byteLength).toString("base64")}"}`,
    ];
  }
}
