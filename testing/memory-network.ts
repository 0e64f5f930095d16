import type { Clock } from "../src/base/clock.ts";
import { type HttpMethod, headersIn } from "../src/wire/http/http-exchange.ts";
import type { Send } from "../src/wire/send.ts";
import { sentText } from "./hosts/sent-text.ts";
import { MemoryExchange, type Reply } from "./memory-exchange.ts";

/** A request as an upstream sees it. */
export interface SentRequest {
  /** POST where absent. */
  method?: HttpMethod;
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  atMs: number;
}

export type Script = (reply: Reply, request: SentRequest) => void | Promise<void>;

/** An in-memory upstream for every URL: a script answers each request, on a virtual clock. */
export class MemoryNetwork {
  readonly requests: SentRequest[] = [];
  readonly replies: Reply[] = [];
  /** Errors that scripts threw. */
  readonly mistakes: unknown[] = [];
  readonly #clock: Clock;
  #scripts: Script[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** One script for each request from now on; the last one for all that follow. */
  play(...scripts: Script[]): void {
    this.requests.length = 0;
    this.replies.length = 0;
    this.#scripts = scripts;
  }

  /** An answer in one piece. */
  json(value: unknown, status = 200, headers: Record<string, string> = {}): Script {
    return (reply) => {
      reply.head(status, headers);
      void reply.write(JSON.stringify(value));
      reply.end();
    };
  }

  /** Chunks of a stream with pauses between them, in milliseconds; then the end of the body. */
  stream(...steps: readonly (string | number)[]): Script {
    return async (reply) => {
      await this.#play(reply, steps);
      reply.end();
    };
  }

  /** The same without an end: silent from there on. */
  openStream(...steps: readonly (string | number)[]): Script {
    return (reply) => this.#play(reply, steps);
  }

  /** The same, and then a connection that breaks. */
  brokenStream(...steps: readonly (string | number)[]): Script {
    return async (reply) => {
      await this.#play(reply, steps);
      reply.fail("broken");
    };
  }

  /** A chunk again and again, after others, until the gateway ends it. */
  endlessStream(everyMs: number, chunk: string, ...steps: readonly (string | number)[]): Script {
    return async (reply) => {
      await this.#play(reply, steps);
      while (reply.closedAtMs === undefined) {
        await Promise.race([Promise.all([reply.write(chunk), this.#clock.sleep(everyMs)]), reply.closed]);
      }
    };
  }

  async #play(reply: Reply, steps: readonly (string | number)[]): Promise<void> {
    reply.head(200, { "content-type": "text/event-stream" });
    for (const step of steps) {
      if (typeof step === "number") await this.#clock.sleep(step);
      else void reply.write(step);
    }
  }

  /** Requests that are neither answered to their end nor ended by the gateway. */
  get open(): number {
    return this.replies.filter((reply) => (reply as MemoryExchange).isOpen).length;
  }

  readonly send: Send = ({ method = "POST", url, headers: shared, ownLines, body = "" }) => {
    const text = sentText(body);
    const headers = ownLines === undefined ? shared : { ...shared, ...headersIn(ownLines) };
    const request = { method, url, headers, body: text, atMs: this.#clock.nowMs() };
    const exchange = new MemoryExchange(this.#clock);
    const script = this.#scripts[Math.min(this.requests.length, this.#scripts.length - 1)];
    if (script === undefined) throw new Error("no script was provided for this request");
    this.requests.push(request);
    this.replies.push(exchange);
    // In a later turn, as with a real host.
    Promise.resolve()
      .then(() => script(exchange, request))
      .catch((error: unknown) => this.mistakes.push(error));
    return exchange;
  };
}
