import { write as writeFile } from "node:fs";
import { ByteBuffer } from "../base/byte-buffer.ts";
import type { Clock } from "../base/clock.ts";

/** Lines are collected for this long, so that one write serves many calls. */
const GATHER_MS = 50;
/** Beyond this many unread bytes, lines are dropped and counted. */
const MAX_WAITING_BYTES = 1024 * 1024;
const FLUSH_MS = 2_000;
const PAUSE_MS = 20;

interface LineWriterOptions {
  /** Adds the lines that are not built yet. */
  build: () => void;
  tellLost: (lines: number) => string;
  /** Where lines go instead of standard error. */
  write?: ((bytes: Uint8Array) => Promise<void>) | undefined;
}

/**
 * Writes lines in order, with a short delay: a stalled reader of standard error must not block calls. One write runs at a time.
 * Lines are kept as bytes: as strings they would outlive their call, and cost the collector more than the line itself (decision
 * 0016).
 */
export class LineWriter {
  readonly #clock: Clock;
  readonly #write: (bytes: Uint8Array) => Promise<void>;
  readonly #build: () => void;
  readonly #tellLost: (lines: number) => string;
  #waiting = new ByteBuffer();
  /** The buffer that was written last, for reuse. */
  #spare = new ByteBuffer();
  #lost = 0;
  #planned = false;
  #writing: Promise<void> | undefined;

  constructor(clock: Clock, { build, tellLost, write }: LineWriterOptions) {
    this.#clock = clock;
    this.#build = build;
    this.#tellLost = tellLost;
    this.#write = write ?? ((bytes) => writeToStandardError(bytes, clock));
  }

  add(line: string): void {
    if (this.#waiting.length + line.length > MAX_WAITING_BYTES) this.#lost += 1;
    else this.#waiting.putText(line);
  }

  /** There is something to write, or soon will be. */
  plan(): void {
    if (this.#planned) return;
    this.#planned = true;
    this.#clock.after(GATHER_MS, () => void this.#drain());
  }

  /** Resolves with whether everything is written; after two seconds if there is no reader. */
  async flush(): Promise<boolean> {
    const { promise: tooLong, resolve } = Promise.withResolvers<boolean>();
    const cancel = this.#clock.after(FLUSH_MS, () => resolve(false));
    const written = await Promise.race([this.#drain().then(() => true), tooLong]);
    cancel();
    return written;
  }

  #drain(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    for (;;) {
      this.#build();
      if (this.#waiting.length === 0 && this.#lost === 0) break;
      if (this.#lost > 0) this.#waiting.putText(this.#tellLost(this.#lost));
      this.#lost = 0;
      const full = this.#waiting;
      this.#waiting = this.#spare;
      await this.#write(full.view());
      full.length = 0;
      this.#spare = full;
    }
    this.#planned = false;
  }
}

const STANDARD_ERROR = 2;

/** Runs in a thread, because a full pipe blocks the writer. Without a reader, lines are discarded. */
async function writeToStandardError(bytes: Uint8Array, { sleep }: Clock): Promise<void> {
  let done = 0;
  while (done < bytes.length) {
    try {
      done += await writeSome(bytes.subarray(done));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return;
      await sleep(PAUSE_MS);
    }
  }
}

function writeSome(bytes: Uint8Array): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  writeFile(STANDARD_ERROR, bytes, (error, written) => (error ? reject(error) : resolve(written)));
  return promise;
}
