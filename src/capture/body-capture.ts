import { ByteBuffer } from "../base/byte-buffer.ts";

/** The most that is read of one body before it is redacted. Most of a large body is media, which is not kept. */
const MAX_READ = 8 * 1024 * 1024;

const decoder = new TextDecoder();

/** The memory that all captures share. */
export interface CaptureMemory {
  /** False if nothing more may be held. */
  hold(bytes: number): boolean;
  release(bytes: number): void;
}

/** One body: an existing text, or the bytes of a stream. */
export class BodyCapture {
  readonly #memory: CaptureMemory;
  #whole: string | undefined;
  #parts = new ByteBuffer();
  #held = 0;
  #isFull = false;
  /** The total size. */
  bytes = 0;
  /** The type, if it is an image or audio instead of text. */
  mediaType: string | undefined;

  constructor(memory: CaptureMemory) {
    this.#memory = memory;
  }

  set(body: string | Uint8Array): void {
    if (typeof body !== "string") {
      this.add(body);
      return;
    }
    this.bytes = Buffer.byteLength(body);
    const read = body.length > MAX_READ ? body.slice(0, MAX_READ) : body;
    const isHeld = this.#hold(read.length);
    if (isHeld) this.#whole = read;
    this.#isFull = !isHeld || read.length < body.length;
  }

  /** Makes a copy, because the buffer is reused. */
  add(part: Uint8Array | string): void {
    const bytes = typeof part === "string" ? Buffer.from(part) : part;
    this.bytes += bytes.length;
    if (this.#isFull || bytes.length === 0) return;
    const room = Math.min(bytes.length, MAX_READ - this.#held);
    const isHeld = this.#hold(room);
    if (isHeld) this.#parts.putBytes(bytes.subarray(0, room));
    this.#isFull = !isHeld || room < bytes.length;
  }

  #hold(bytes: number): boolean {
    if (!this.#memory.hold(bytes)) return false;
    this.#held += bytes;
    return true;
  }

  /** Undefined if there were no bytes. */
  get text(): string | undefined {
    if (this.bytes === 0) return undefined;
    if (this.mediaType !== undefined) return this.#mediaText(this.mediaType);
    return this.#whole ?? decoder.decode(this.#parts.view());
  }

  /** As JSON text with a data URL, so that media are extracted as usual. An incomplete medium is only mentioned. */
  #mediaText(type: string): string {
    if (this.#isFull) return `"[${type}, ${this.bytes} bytes]"`;
    return `"data:${type};base64,${Buffer.from(this.#parts.view()).toString("base64")}"`;
  }

  /** The next bytes replace the previous ones: the last response of a job has the result. */
  restart(): void {
    this.drop();
    this.#isFull = false;
    this.bytes = 0;
  }

  /** Whether its end is missing. */
  get isCut(): boolean {
    return this.#isFull;
  }

  drop(): void {
    this.#memory.release(this.#held);
    this.#held = 0;
    this.#whole = undefined;
    this.#parts = new ByteBuffer();
  }
}
