import type { Cancel, Clock } from "../../base/clock.ts";
import { parseObject } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import type { AttemptCapture } from "../../capture/call-capture.ts";
import type { MediaAnswer, MediaRequest } from "../../media/adapter.ts";
import type { ProviderApi } from "../../providers/provider-api.ts";
import type { HttpAnswer, HttpExchange, HttpHeaders, HttpRequest } from "../../wire/http/http-exchange.ts";
import { readRetryAfter } from "../../wire/http/retry-after.ts";
import { parseLargeJson } from "../../wire/parse-large-json.ts";
import { type Send, sendFailure } from "../../wire/send.ts";
import { CapturedAnswer, formText, NOT_CAPTURED } from "../settle/capture-call.ts";
import { connectionFailure } from "./connection-failure.ts";

/** Enough for several large images in base64. */
const MAX_ANSWER_BYTES = 512 * 1024 * 1024;

const LARGE = 1024 * 1024;

/** The connection broke or timed out after the request was sent: it may have arrived, and a retry may run it twice. */
export class UncertainError extends GatewayError {}

export interface ExchangeOptions {
  clock: Clock;
  send: Send;
  /** Ends the exchange before its time. */
  signal: AbortSignal;
  /** For the whole exchange, or until the headers arrive if `idleMs` is set. */
  timeoutMs: number;
  /** For each part of a body that is passed on as it arrives. */
  idleMs?: number;
  /** The request is safe to repeat: it uses a kept-alive connection, and is sent again if the host had closed it. */
  mayRepeat?: boolean;
  /** Captures the bodies; for a poll, only the response. */
  capture?: (Pick<AttemptCapture, "answer"> & Partial<Pick<AttemptCapture, "request">>) | undefined;
  /** The response is not captured, because a guard may change it. */
  hidesAnswer?: boolean;
  /** Trace headers, for the provider's own hosts only. */
  traceLines?: string | undefined;
}

/** Sends a request to a provider's API. Resolves when the response headers arrive. Redirects are not followed. */
export async function openExchange(
  api: Pick<ProviderApi, "outgoing" | "owns">,
  request: MediaRequest,
  options: ExchangeOptions,
): Promise<ProviderExchange> {
  const made = await api.outgoing(request);
  const { traceLines } = options;
  const outgoing = traceLines !== undefined && api.owns(made.url) ? { ...made, ownLines: traceLines } : made;
  const { body } = request;
  const sent = outgoing.body ?? "";
  const captured = typeof sent === "string" || sent instanceof Uint8Array ? sent : "";
  options.capture?.request?.set(body && "form" in body ? formText(body.form, true) : captured);
  const mayRepeat = outgoing.method === "GET" || options.mayRepeat === true;
  const first = new ProviderExchange({ ...outgoing, newConnection: !mayRepeat }, options);
  try {
    return await first.open();
  } catch (thrown) {
    // The host had closed a kept-alive connection, and the request is safe to repeat.
    if (!mayRepeat || !first.isStale) throw thrown;
    return new ProviderExchange({ ...outgoing, newConnection: true }, options).open();
  }
}

/** One exchange with a provider's API, except for conversations. Must be read to its end or closed. */
export class ProviderExchange {
  readonly #request: HttpRequest;
  readonly #options: ExchangeOptions;
  #exchange: HttpExchange | undefined;
  #answer: HttpAnswer | undefined;
  #cancelTimeout: Cancel = () => {};
  #timedOut = false;
  /** The host closed a kept-alive connection before it sent a byte of its response. */
  isStale = false;

  constructor(request: HttpRequest, options: ExchangeOptions) {
    this.#request = request;
    this.#options = options;
  }

  async open(): Promise<this> {
    const { clock, send, signal, timeoutMs } = this.#options;
    signal.throwIfAborted();
    try {
      this.#exchange = send(this.#request);
      signal.addEventListener("abort", this.#cut);
      this.#cancelTimeout = clock.after(timeoutMs, this.#expire, { background: true });
      this.#answer = await this.#exchange.answer();
      const { capture, hidesAnswer } = this.#options;
      if (capture !== undefined && hidesAnswer) capture.answer.set(NOT_CAPTURED);
      else if (capture !== undefined) this.#answer = new CapturedAnswer(this.#answer, capture);
      if (this.#options.idleMs !== undefined) this.#cancelTimeout();
      return this;
    } catch (cause) {
      throw this.#explain(cause);
    }
  }

  readonly #cut = (): void => this.#exchange?.close();

  readonly #expire = (): void => {
    this.#timedOut = true;
    this.#cut();
  };

  get url(): string {
    return this.#request.url;
  }

  get status(): number {
    return this.#answer?.status ?? 0;
  }

  get headers(): HttpHeaders {
    return this.#answer?.headers ?? NO_HEADERS;
  }

  /** The next bytes of the body; undefined at its end. */
  async read(): Promise<Uint8Array | undefined> {
    try {
      return await this.#read();
    } catch (cause) {
      throw this.#explain(cause);
    }
  }

  async #read(): Promise<Uint8Array | undefined> {
    const { clock, idleMs } = this.#options;
    // While the gateway waits for its client, the provider's silence does not count.
    if (idleMs !== undefined) this.#cancelTimeout = clock.after(idleMs, this.#expire, { background: true });
    try {
      const chunk = await this.#answer?.read();
      if (chunk === undefined) this.#release();
      else if (idleMs !== undefined) this.#cancelTimeout();
      return chunk;
    } catch (cause) {
      this.#release();
      throw cause;
    }
  }

  /** The body, read on demand. It fails with whatever broke it. */
  stream(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const chunk = await this.#read();
        if (chunk === undefined) controller.close();
        else controller.enqueue(chunk);
      },
      cancel: () => this.close(),
    });
  }

  close(): void {
    this.#release();
    this.#cut();
  }

  #release(): void {
    this.#cancelTimeout();
    this.#options.signal.removeEventListener("abort", this.#cut);
  }

  /** Throws the reason if the exchange was aborted. */
  #explain(cause: unknown): GatewayError {
    this.#release();
    const { signal, timeoutMs, idleMs } = this.#options;
    signal.throwIfAborted();
    if (this.#timedOut) {
      const isSilent = idleMs !== undefined && this.#answer !== undefined;
      const message = isSilent
        ? `The provider sent nothing more for ${idleMs} ms.`
        : `The provider did not respond within ${timeoutMs} ms.`;
      return new UncertainError("upstream_timeout", message, { cause });
    }
    const failed = sendFailure(cause);
    this.isStale = failed === "stale";
    const error = connectionFailure(failed, cause);
    if (failed === "connect") return error;
    const { kind, message, failure } = error;
    return new UncertainError(kind, message, { failure, cause });
  }
}

const NO_HEADERS: HttpHeaders = { get: () => undefined };

/** How a body is read whole. */
interface Reading {
  maxBytes?: number;
  /** Counts what is held of it as it comes; throws where that is too much. */
  hold?: (bytes: number) => void;
}

export async function readAnswer(
  exchange: ProviderExchange,
  { clock }: Pick<ExchangeOptions, "clock">,
  { maxBytes = MAX_ANSWER_BYTES, hold = () => {} }: Reading = {},
): Promise<MediaAnswer> {
  const text = await readText(exchange, maxBytes, hold);
  return {
    status: exchange.status,
    headers: exchange.headers,
    body: parseObject(text, parseLargeJson),
    text,
    retryAfterSeconds: readRetryAfter(exchange.headers.get("retry-after"), clock.wallMs()),
  };
}

/**
 * A large body of known length is collected in one buffer, so that bytes and text are held together only briefly. Other bodies are
 * decoded as they arrive.
 */
async function readText(exchange: ProviderExchange, maxBytes: number, hold: (bytes: number) => void): Promise<string> {
  const declared = Number(exchange.headers.get("content-length") ?? 0);
  const isPlain = (exchange.headers.get("content-encoding") ?? "identity") === "identity";
  const whole = declared >= LARGE && declared <= maxBytes && isPlain ? new Uint8Array(declared) : undefined;
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for (let chunk = await exchange.read(); chunk; chunk = await exchange.read()) {
    if (size + chunk.length > maxBytes) {
      exchange.close();
      throw new GatewayError("upstream_failed", `The provider's response is larger than ${maxBytes} bytes.`);
    }
    size += chunk.length;
    try {
      hold(chunk.length);
    } catch (refusal) {
      exchange.close();
      throw refusal;
    }
    if (whole) {
      whole.set(chunk, size - chunk.length);
      free(chunk);
    } else text += decoder.decode(chunk, { stream: true });
  }
  if (!whole) return text + decoder.decode();
  text = decoder.decode(whole);
  free(whole);
  return text;
}

/** Frees bytes early. The garbage collector would keep them until the heap has grown by as much. */
function free({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

export const isSuccess = ({ status }: { status: number }): boolean => status >= 200 && status < 300;
