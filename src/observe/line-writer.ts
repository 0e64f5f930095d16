import { write as writeFile } from "node:fs";

/** Lines gather for this long, so that one write serves many calls. */
const GATHER_MS = 50;
/** Beyond this many characters that nobody takes, lines are dropped and counted. */
const MOST_WAITING = 1024 * 1024;
const FLUSH_MS = 2_000;
const PAUSE_MS = 20;

/**
 * Writes lines in the order in which they came, some time after: a reader of standard error that stands still must not stop
 * calls. One write is under way at a time.
 */
export class LineWriter {
  readonly #write: (text: string) => Promise<void>;
  readonly #tellLost: (lines: number) => string;
  #waiting = "";
  #lost = 0;
  #planned = false;
  #writing: Promise<void> | undefined;

  constructor(tellLost: (lines: number) => string, write: (text: string) => Promise<void> = writeToStandardError) {
    this.#tellLost = tellLost;
    this.#write = write;
  }

  push(line: string): void {
    if (this.#waiting.length + line.length > MOST_WAITING) {
      this.#lost += 1;
      return;
    }
    this.#waiting += line;
    if (this.#planned) return;
    this.#planned = true;
    setTimeout(() => void this.#drain(), GATHER_MS);
  }

  /** Resolves with whether everything is written; where nobody takes it, after two seconds. */
  async flush(): Promise<boolean> {
    const { promise: tooLong, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), FLUSH_MS);
    const written = await Promise.race([this.#drain().then(() => true), tooLong]);
    clearTimeout(timer);
    return written;
  }

  #drain(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting !== "" || this.#lost > 0) {
      const text = this.#waiting + (this.#lost > 0 ? this.#tellLost(this.#lost) : "");
      this.#waiting = "";
      this.#lost = 0;
      await this.#write(text);
    }
    this.#planned = false;
  }
}

const STANDARD_ERROR = 2;

/** On a thread of its own, since a full pipe blocks whoever writes to it. Where nobody reads any more, lines are for nobody. */
async function writeToStandardError(text: string): Promise<void> {
  const bytes = Buffer.from(text);
  let done = 0;
  while (done < bytes.length) {
    try {
      done += await writeSome(bytes.subarray(done));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return;
      await Bun.sleep(PAUSE_MS);
    }
  }
}

function writeSome(bytes: Uint8Array): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  writeFile(STANDARD_ERROR, bytes, (error, written) => (error ? reject(error) : resolve(written)));
  return promise;
}
