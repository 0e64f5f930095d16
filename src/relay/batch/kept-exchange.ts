import { type ChunkTaker, type HttpAnswer, type HttpExchange, pullWhile } from "../../wire/http/http-exchange.ts";
import type { KeptResponse } from "../call.ts";

/** A response that arrived earlier, read like one that arrives now. */
export class KeptExchange implements HttpExchange, HttpAnswer {
  readonly headers = { get: () => undefined };
  readonly #response: KeptResponse;
  #isDone = false;

  constructor(response: KeptResponse) {
    this.#response = response;
  }

  get status(): number {
    return this.#response.status;
  }

  async answer(): Promise<HttpAnswer> {
    this.#response.isRead = true;
    return this;
  }

  async read(): Promise<Uint8Array | undefined> {
    if (this.#isDone) return undefined;
    this.#isDone = true;
    const bytes = Buffer.from(this.#response.body);
    return bytes.length === 0 ? undefined : bytes;
  }

  readWhile(taker: ChunkTaker): Promise<boolean> {
    return pullWhile(() => this.read(), taker);
  }

  close(): void {
    this.#isDone = true;
  }
}
