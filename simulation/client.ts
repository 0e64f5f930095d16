import type { ServedConnection } from "../src/server/request-handler.ts";
import type { VirtualClock } from "../testing/virtual-clock.ts";
import type { CallBook, ClientEnding } from "./book.ts";
import { type ReadAnswer, readStream, readWhole } from "./read-answer.ts";
import { requestEnd } from "./request-end.ts";
import { requestOf } from "./requests.ts";
import type { SimulatedProcess } from "./simulated-process.ts";

interface ClientOptions {
  clock: VirtualClock;
  /** Called once, when the call is over for its client. `answer` is what it has read. */
  onEnd: (book: CallBook, answer: ReadAnswer | undefined) => void;
  /** The response it builds on. */
  previous?: string | undefined;
}

const decoder = new TextDecoder();

/** One client with one call: sends it, reads the response as planned, and knows when it is over. */
export class SimulatedClient implements ServedConnection {
  readonly address = "127.0.0.1";
  trusted = false;
  held = false;
  readonly book: CallBook;
  readonly #options: ClientOptions;
  readonly #leaving = new AbortController();
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #stream = false;

  constructor(book: CallBook, options: ClientOptions) {
    this.book = book;
    this.#options = options;
  }

  hold(): void {
    this.held = true;
  }

  rest(): void {}

  /** The gateway closes the connection. */
  hangUp(): void {
    this.#end("cut");
  }

  /** The gateway was killed: nothing more is read. */
  cut(): void {
    this.#end("cut");
  }

  send(process: SimulatedProcess): void {
    const { plan } = this.book;
    const { leavesAfterMs } = plan.reading;
    if (leavesAfterMs !== undefined) this.#options.clock.after(leavesAfterMs, () => this.#leave());
    process.ids.tellNext((id) => {
      this.book.requestEnd = requestEnd(id);
    });
    const response = process.handle(requestOf(plan, this.#leaving.signal, this.#options.previous), this);
    response.then((found) => this.#read(found)).catch((error: unknown) => this.#fail(error));
  }

  async #read(response: Response): Promise<void> {
    const { book } = this;
    if (book.ending !== undefined) return;
    const { plan } = book;
    book.status = response.status;
    book.receiptId = response.headers.get("x-trivium-receipt") ?? undefined;
    this.#stream = response.status === 200 && plan.stream;
    if (!this.#stream) {
      const text = await response.text();
      if (book.ending === undefined) this.#finish(readWhole(plan.dialect, book.status, text));
      return;
    }
    const { leavesAfterChunks, stallsMs } = plan.reading;
    this.#reader = response.body?.getReader() as ReadableStreamDefaultReader<Uint8Array> | undefined;
    for (let chunks = 1; ; chunks++) {
      const { done, value } = (await this.#reader?.read()) ?? { done: true, value: undefined };
      if (book.ending !== undefined) return;
      if (done) break;
      book.text += decoder.decode(value);
      if (chunks === leavesAfterChunks) return this.#leave();
      if (chunks === 1 && stallsMs !== undefined) await this.#options.clock.sleep(stallsMs);
      if (book.ending !== undefined) return;
    }
    this.#finish(readStream(plan.dialect, book.text, true));
  }

  #finish(answer: ReadAnswer): void {
    this.#end(answer.errors > 0 ? "failed" : "whole", answer);
  }

  #leave(): void {
    if (this.book.ending !== undefined) return;
    this.#end("left");
    this.#leaving.abort();
    void this.#reader?.cancel().catch(() => {});
  }

  #fail(error: unknown): void {
    if (this.book.ending !== undefined) return;
    const answer = readStream(this.book.plan.dialect, "", true);
    answer.wrong.push(`the connection failed: ${error instanceof Error ? error.stack : String(error)}`);
    this.#end("failed", answer);
  }

  #end(ending: ClientEnding, read?: ReadAnswer): void {
    const { book } = this;
    if (book.ending !== undefined) return;
    book.ending = ending;
    book.endedAtMs = this.#options.clock.nowMs();
    const partly = this.#stream ? readStream(book.plan.dialect, book.text, false) : undefined;
    const answer = read ?? partly;
    book.text = answer?.text ?? "";
    book.toolArguments = answer?.toolArguments;
    this.#options.onEnd(book, answer);
  }
}
