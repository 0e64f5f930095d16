import type { ObjectContent } from "../objects/object-content.ts";

/** How much is read at once. A line that is longer is read alone. */
const WINDOW_BYTES = 256 * 1024;
/** The inputs of which a window is kept. */
const MAX_WINDOWS = 16;

interface Window {
  start: number;
  bytes: Promise<Buffer | undefined>;
}

/** Reads lines from inputs. Lines run nearly in order, so one read is enough for many of them. */
export class InputReader {
  readonly #content: ObjectContent;
  readonly #windows = new Map<string, Window>();

  constructor(content: ObjectContent) {
    this.#content = content;
  }

  /** Undefined if the input has been removed. */
  async read(batchId: string, start: number, size: number): Promise<string | undefined> {
    if (size > WINDOW_BYTES) return (await this.#bytes(batchId, start, size))?.toString();
    const known = this.#windows.get(batchId);
    const isWithin = known !== undefined && start >= known.start && start + size <= known.start + WINDOW_BYTES;
    const window = isWithin ? known : this.#open(batchId, start);
    const bytes = await window.bytes;
    return bytes?.subarray(start - window.start, start - window.start + size).toString();
  }

  #open(batchId: string, start: number): Window {
    const window = { start, bytes: this.#bytes(batchId, start, WINDOW_BYTES) };
    const forget = () => this.#windows.delete(batchId);
    window.bytes.then((bytes) => bytes ?? forget(), forget);
    forget();
    this.#windows.set(batchId, window);
    for (const oldest of this.#windows.keys()) {
      if (this.#windows.size <= MAX_WINDOWS) break;
      this.#windows.delete(oldest);
    }
    return window;
  }

  async #bytes(batchId: string, start: number, size: number): Promise<Buffer | undefined> {
    const stream = await this.#content.open(batchId, { start, end: start + size });
    return stream && Buffer.from(await new Response(stream).arrayBuffer());
  }
}
