import { decompressResponse } from "./decompress-response.ts";
import { HttpFailure } from "./failure.ts";
import {
  type HttpAnswer,
  type HttpExchange,
  type HttpHeaders,
  type HttpRequest,
  headersIn,
  pullWhile,
} from "./http-exchange.ts";

const NOT_CONNECTED = new Set(["ConnectionRefused", "ECONNREFUSED", "ENOTFOUND", "FailedToOpenSocket", "EHOSTUNREACH"]);

/** A request made by the runtime's HTTP client, which supports proxies. */
export class FetchExchange implements HttpExchange {
  readonly #controller = new AbortController();
  readonly #request: () => Promise<Response>;

  constructor({ method = "POST", url, headers: shared, ownLines, body }: HttpRequest) {
    const headers = ownLines === undefined ? shared : { ...shared, ...headersIn(ownLines) };
    const { signal } = this.#controller;
    this.#request = () => {
      const sent = body === undefined ? {} : { body: plainBody(body) };
      return fetch(url, { method, headers, ...sent, signal, redirect: "manual", decompress: false });
    };
  }

  async answer(): Promise<HttpAnswer> {
    const response = await this.#request().catch(fail);
    const reader = response.body?.getReader();
    const headers: HttpHeaders = { get: (name) => response.headers.get(name) ?? undefined };
    const read = async () => (reader ? (await reader.read().catch(fail)).value : undefined);
    // Decompressed here, in steps: the runtime would decompress everything at once (S23).
    return decompressResponse({ status: response.status, headers, read, readWhile: (taker) => pullWhile(read, taker) });
  }

  close(): void {
    this.#controller.abort();
  }
}

const plainBody = (body: NonNullable<HttpRequest["body"]>): string | Uint8Array | ReadableStream<Uint8Array> =>
  typeof body === "string" || body instanceof Uint8Array ? body : readableOf(body.open()[Symbol.asyncIterator]());

const readableOf = (chunks: AsyncIterator<Uint8Array>): ReadableStream<Uint8Array> =>
  new ReadableStream({
    pull: async (controller) => {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: () => void chunks.return?.(),
  });

function fail(thrown: unknown): never {
  const code = typeof thrown === "object" && thrown !== null && "code" in thrown ? String(thrown.code) : "";
  throw new HttpFailure(NOT_CONNECTED.has(code) ? "connect" : "broken", "the request through the proxy failed", thrown);
}
