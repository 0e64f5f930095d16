import type { Clock } from "../base/clock.ts";
import { withTimeout } from "../base/with-timeout.ts";
import type { Receipt } from "../canon/receipt.ts";
import type { ExportFormat } from "../config/export-format.ts";
import type { EncoderAnswer, EncoderQuestion } from "./encoder.thread.ts";

/** How the thread of a compiled program knows its role (src/app/load-thread.ts). */
export const ENCODER_THREAD = "receipt-encoder";

/** A compiled program has one file for all modules. */
const PROGRAM = import.meta.path === Bun.main ? Bun.main : new URL("./encoder.thread.ts", import.meta.url);

/** A row group takes a second on a busy machine. */
const STEP_MS = 60_000;

/** Encodes one file in a separate low-priority thread, because streams would wait while a row group is encoded. */
export class ThreadedEncoder {
  readonly #worker: Worker;
  readonly #clock: Clock;
  #answer: PromiseWithResolvers<Uint8Array> | undefined;

  private constructor(clock: Clock) {
    this.#clock = clock;
    this.#worker = new Worker(PROGRAM, { argv: [ENCODER_THREAD] });
    this.#worker.onmessage = ({ data }: MessageEvent<EncoderAnswer>) => {
      if ("bytes" in data) this.#answer?.resolve(data.bytes);
      else this.#answer?.reject(new Error(data.problem));
    };
    this.#worker.onerror = ({ message }) =>
      this.#answer?.reject(new Error(`the thread that encodes receipts failed: ${message}`));
  }

  static async open(format: ExportFormat, nowMs: number, clock: Clock): Promise<ThreadedEncoder> {
    const encoder = new ThreadedEncoder(clock);
    try {
      await encoder.#ask({ format, nowMs });
    } catch (thrown) {
      encoder.close();
      throw thrown;
    }
    return encoder;
  }

  /** The next bytes of the file, perhaps none. */
  add(receipts: readonly Receipt[]): Promise<Uint8Array> {
    return this.#ask({ receipts });
  }

  /** The last bytes of the file. */
  end(): Promise<Uint8Array> {
    return this.#ask({ end: true });
  }

  close(): void {
    this.#worker.terminate();
  }

  #ask(question: EncoderQuestion): Promise<Uint8Array> {
    this.#answer = Promise.withResolvers<Uint8Array>();
    this.#worker.postMessage(question);
    return withTimeout(
      this.#answer.promise,
      STEP_MS,
      this.#clock,
      () => new Error("the thread that encodes receipts did not answer"),
    );
  }
}
