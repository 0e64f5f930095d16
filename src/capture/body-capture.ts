import { ByteBuffer } from "../base/byte-buffer.ts";

/** What is read of one body, before it is redacted. Media take most of a large one, and are not kept. */
const MAX_READ = 8 * 1024 * 1024;

const decoder = new TextDecoder();

/** What all captures may hold together. */
export interface CaptureMemory {
  /** False where nothing more may be held. */
  hold(bytes: number): boolean;
  release(bytes: number): void;
}

/** One body: a text that exists anyway, or the bytes of one as they pass by. */
export class BodyCapture {
  readonly #memory: CaptureMemory;
  #whole: string | undefined;
  #parts = new ByteBuffer();
  #held = 0;
  #isFull = false;
  /** All that has passed by. */
  bytes = 0;
  /** Where it is no text but an image or a sound: of this type. */
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

  /** A copy: the buffer is used again. */
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

  /** Undefined where nothing passed by. */
  get text(): string | undefined {
    if (this.bytes === 0) return undefined;
    if (this.mediaType !== undefined) return this.#mediaText(this.mediaType);
    return this.#whole ?? decoder.decode(this.#parts.view());
  }

  /** As a JSON text with a data URL, of which media are taken out like of any other. Half of a medium is only told. */
  #mediaText(type: string): string {
    if (this.#isFull) return `"[${type}, ${this.bytes} bytes]"`;
    return `"data:${type};base64,${Buffer.from(this.#parts.view()).toString("base64")}"`;
  }

  /** What comes next takes the place of what there is: a job's last answer says what came of it. */
  restart(): void {
    this.drop();
    this.#isFull = false;
    this.bytes = 0;
  }

  /** Whether the end of it is missing. */
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
