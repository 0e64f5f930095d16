import type { RequestHandler, ServedConnection } from "../src/server/request-handler.ts";
import type { VirtualClock } from "./virtual-clock.ts";

export interface ReadingOptions {
  /** The client stops reading after this many chunks, until it is resumed. */
  readsChunks?: number;
}

interface TimedChunk {
  /** Since the request was sent. */
  ms: number;
  text: string;
}

export interface ReadAnswer {
  status: number;
  headers: Headers;
  text: string;
  chunks: readonly TimedChunk[];
  /** When the answer's head was there, since the request was sent. */
  headMs: number;
  /** When it ended. */
  endMs: number;
}

/** A client's connection that only remembers what was done to it. */
class FakeConnection implements ServedConnection {
  readonly address = "127.0.0.1";
  trusted = false;
  held = false;
  rested = false;
  hungUp = false;

  hold(): void {
    this.held = true;
    this.trusted = true;
  }

  rest(): void {
    this.rested = true;
  }

  hangUp(): void {
    this.hungUp = true;
  }
}

/** A request on its way, seen from its client. */
export class SentCall {
  readonly connection = new FakeConnection();
  /** The whole response as the client reads it. Rejects if the client disconnected. */
  readonly answer: Promise<ReadAnswer>;
  /** Its head. */
  readonly response: Promise<Response>;
  readonly chunks: TimedChunk[] = [];
  readonly #clock: VirtualClock;
  readonly #sentAtMs: number;
  readonly #disconnection = new AbortController();
  #reader: { read(): Promise<{ done: boolean; value?: Uint8Array }>; cancel(): Promise<void> } | undefined;
  #readsChunks: number;
  #goOn = Promise.withResolvers<void>();
  #progress = Promise.withResolvers<void>();

  constructor(
    handle: RequestHandler,
    clock: VirtualClock,
    [url, init]: [string, RequestInit],
    options: ReadingOptions,
  ) {
    this.#clock = clock;
    this.#sentAtMs = clock.nowMs();
    this.#readsChunks = options.readsChunks ?? Number.POSITIVE_INFINITY;
    const length = typeof init.body === "string" ? { "content-length": String(Buffer.byteLength(init.body)) } : {};
    const headers = { host: new URL(url).host, ...length, ...(init.headers as Record<string, string>) };
    const request = new Request(url, { ...init, headers, signal: this.#disconnection.signal });
    this.response = handle(request, this.connection);
    this.answer = this.#read();
    // Failures are ignored if nobody waits for either.
    this.answer.catch(() => {});
  }

  /** The client closes its connection. */
  disconnect(): void {
    this.#disconnection.abort();
    this.#goOn.resolve();
    void this.#reader?.cancel().catch(() => {});
  }

  /** Resolves when the client has read this. */
  async reads(word: string): Promise<void> {
    while (!this.text.includes(word)) {
      this.#progress = Promise.withResolvers();
      await this.#progress.promise;
    }
  }

  /** What the client has read so far. */
  get text(): string {
    return this.chunks.map((chunk) => chunk.text).join("");
  }

  /** The client reads again. */
  goOn(): void {
    this.#readsChunks = Number.POSITIVE_INFINITY;
    this.#goOn.resolve();
  }

  /** Milliseconds since it was sent. */
  get ms(): number {
    return this.#clock.nowMs() - this.#sentAtMs;
  }

  async #read(): Promise<ReadAnswer> {
    const response = await this.response;
    const headMs = this.ms;
    const decoder = new TextDecoder();
    this.#reader = response.body?.getReader();
    for (;;) {
      if (this.chunks.length >= this.#readsChunks) await this.#goOn.promise;
      const { done, value } = (await this.#reader?.read()) ?? { done: true, value: undefined };
      if (this.#disconnection.signal.aborted) throw new Error("the client disconnected");
      if (done) break;
      this.chunks.push({ ms: this.ms, text: decoder.decode(value, { stream: true }) });
      this.#progress.resolve();
    }
    const { status, headers } = response;
    return { status, headers, text: this.text, chunks: this.chunks, headMs, endMs: this.ms };
  }
}

/** What an error answer says, whatever the protocol. */
export function errorIn({ text }: Pick<ReadAnswer, "text">): { type: string; message: string } {
  const { error } = JSON.parse(text) as { error: { type?: string; status?: string; message: string } };
  return { type: error.type ?? error.status ?? "", message: error.message };
}
