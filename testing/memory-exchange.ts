import type { Clock } from "../src/base/clock.ts";
import { type FailureKind, HttpFailure } from "../src/wire/http/failure.ts";
import {
  type ChunkTaker,
  type HttpAnswer,
  type HttpExchange,
  type HttpHeaders,
  pullWhile,
} from "../src/wire/http/http-exchange.ts";

/** The actions of an upstream on a request. Without further actions it is silent. */
export interface Reply {
  /** The answer's head. */
  head(status?: number, headers?: Record<string, string>): void;
  /** Resolves when the gateway has read everything so far; it applies back-pressure by not reading. */
  write(chunk: string | Uint8Array): Promise<void>;
  /** The body is whole. */
  end(): void;
  /** The connection breaks, or was never made. */
  fail(kind: FailureKind): void;
  /** When the gateway abandoned the request; undefined if it did not. */
  readonly closedAtMs: number | undefined;
  /** Resolves when the gateway abandons the request. */
  readonly closed: Promise<void>;
}

/** One request and its answer, without a connection: both ends are played. */
export class MemoryExchange implements HttpExchange, HttpAnswer, Reply {
  status = 0;
  headers: HttpHeaders = new Map();
  closedAtMs: number | undefined;
  readonly #clock: Clock;
  readonly #head = Promise.withResolvers<HttpAnswer>();
  readonly #closed = Promise.withResolvers<void>();
  #unread: Uint8Array[] = [];
  #taken = Promise.withResolvers<void>();
  #end: "whole" | HttpFailure | undefined;
  #wake = Promise.withResolvers<void>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#head.promise.catch(() => {});
  }

  get isOpen(): boolean {
    return this.#end === undefined;
  }

  // --- what the gateway does ---

  answer(): Promise<HttpAnswer> {
    return this.#head.promise;
  }

  async read(): Promise<Uint8Array | undefined> {
    for (;;) {
      if (this.#unread.length > 0) {
        const bytes = Buffer.concat(this.#unread);
        this.#unread = [];
        this.#taken.resolve();
        return bytes;
      }
      if (this.#end === "whole") return undefined;
      if (this.#end) throw this.#end;
      this.#wake = Promise.withResolvers();
      await this.#wake.promise;
    }
  }

  readWhile(taker: ChunkTaker): Promise<boolean> {
    return pullWhile(() => this.read(), taker);
  }

  close(): void {
    this.closedAtMs ??= this.#clock.nowMs();
    this.fail("broken");
    this.#closed.resolve();
  }

  // --- what the upstream does ---

  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  head(status = 200, headers: Record<string, string> = {}): void {
    this.status = status;
    this.headers = new Map(Object.entries({ "content-type": "application/json", ...headers }));
    this.#head.resolve(this);
  }

  write(chunk: string | Uint8Array): Promise<void> {
    if (this.#end !== undefined) return Promise.resolve();
    if (this.#unread.length === 0) this.#taken = Promise.withResolvers();
    this.#unread.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
    this.#wake.resolve();
    return this.#taken.promise;
  }

  end(): void {
    this.#end ??= "whole";
    this.#wake.resolve();
  }

  fail(kind: FailureKind): void {
    if (this.#end !== undefined) return;
    this.#end = new HttpFailure(kind, "aborted by the script");
    this.#unread = [];
    this.#taken.resolve();
    this.#head.reject(this.#end);
    this.#wake.resolve();
  }
}
