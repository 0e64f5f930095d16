import type { HttpRequest } from "../src/wire/http/http-exchange.ts";
import type { Send } from "../src/wire/send.ts";
import { sentText } from "../testing/hosts/sent-text.ts";
import { MemoryExchange } from "../testing/memory-exchange.ts";
import type { ScriptedDialect } from "../testing/sampled-dialects.ts";
import type { VirtualClock } from "../testing/virtual-clock.ts";
import type { CallBook, ServedAttempt } from "./book.ts";
import { PROVIDERS, secretsOf } from "./configuration.ts";
import type { Behaviour } from "./scenario.ts";
import { type Speech, type SpokenUsage, wordOf, wordsOf } from "./speech.ts";
import type { Trace } from "./trace.ts";
import { WIRES } from "./wires.ts";

const HEALTHY: Behaviour = { delayMs: 20, gapMs: 5, eventsPerChunk: 1, usage: "true" };

const PROVIDER_OF_HOST: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(PROVIDERS).map(([name, { baseUrl }]) => [new URL(baseUrl).host, name]),
);

/** Two seconds, plus the time the watchdog needs to notice. */
const MAX_READ_ON_MS = 2_300;

/** The headers that carry a credential. */
const CREDENTIALS = ["authorization", "x-api-key", "x-goog-api-key"];

interface ProvidersOptions {
  clock: VirtualClock;
  trace: Trace;
  /** The call that a prompt names. */
  bookOf: (id: number) => CallBook | undefined;
  /** A call has sent one more request. */
  onAsked: (book: CallBook) => void;
  onViolation: (rule: string, what: string) => void;
}

interface Outage {
  behaviour: Behaviour;
  /** When it failed. */
  failedAtMs: number[];
}

/** Failures that are certainly the provider's own, and reported at once. */
const IS_ITS_FAULT = ({ fault, status = 0 }: Behaviour): boolean =>
  fault === "refused" || fault === "broken" || fault === "html" || (fault === "status" && status >= 500);

/** The window in which failures open a breaker, with a margin. */
const BREAKER_WINDOW_MS = 10_000;

interface OpenExchange {
  exchange: MemoryExchange;
  book: CallBook;
  provider: string;
}

/** Every provider, in memory: responds as each call's plan says, and records it. */
export class SimulatedProviders {
  readonly #options: ProvidersOptions;
  readonly #open = new Set<OpenExchange>();
  readonly #outages = new Map<string, Outage>();

  constructor(options: ProvidersOptions) {
    this.#options = options;
  }

  /** Requests that are neither answered nor abandoned. */
  get open(): number {
    return this.#open.size;
  }

  openAt(provider: string): number {
    let open = 0;
    for (const exchange of this.#open) if (exchange.provider === provider) open++;
    return open;
  }

  /** Calls of a key that have a request in flight. */
  callsUnderWay(key: string): number {
    const calls = new Set<number>();
    for (const { book } of this.#open) if (book.plan.key === key) calls.add(book.plan.id);
    return calls.size;
  }

  /** Until it ends, every request to the provider fails this way. */
  beginOutage(provider: string, behaviour: Behaviour): void {
    this.#outages.set(provider, { behaviour, failedAtMs: [] });
  }

  /** Returns how often the provider recently failed by its own fault without answering in between. */
  endOutage(provider: string): number {
    const { failedAtMs = [] } = this.#outages.get(provider) ?? {};
    this.#outages.delete(provider);
    const sinceMs = this.#options.clock.nowMs() - BREAKER_WINDOW_MS;
    return failedAtMs.filter((ms) => ms >= sinceMs).length;
  }

  /** The process at the other end was killed. */
  cutAll(): void {
    for (const { exchange } of [...this.#open]) exchange.close();
    // The next process must learn the providers' health itself.
    for (const outage of this.#outages.values()) outage.failedAtMs = [];
  }

  /** One of several processes was killed. */
  cutProcess(number: number): void {
    for (const { exchange, book } of [...this.#open]) if (book.process === number) exchange.close();
  }

  readonly send: Send = (request) => {
    const { clock, trace, bookOf, onAsked, onViolation } = this.#options;
    const provider = PROVIDER_OF_HOST[new URL(request.url).host];
    const exchange = new MemoryExchange(clock);
    const body = sentText(request.body);
    const book = bookOf(askedFor(body));
    if (provider === undefined || book === undefined) {
      onViolation("every request belongs to a call", `${request.url} was sent ${body.slice(0, 200)}`);
      exchange.fail("connect");
      return exchange;
    }
    this.#checkCredential(provider, request);
    const { dialect } = PROVIDERS[provider] as (typeof PROVIDERS)[string];
    const outage = this.#outages.get(provider);
    const behaviour = outage?.behaviour ?? book.plan.providers[book.attempts.length] ?? HEALTHY;
    const stream = isStream(dialect, request.url, body);
    const attempt = makeAttempt(book, provider, behaviour, stream, clock.nowMs(), body);
    book.attempts.push(attempt);
    trace.note(`call ${book.plan.id} asks ${provider} ${behaviour.fault ?? "well"} ${Bun.hash(body)}`);
    const opened = { exchange, book, provider };
    this.#open.add(opened);
    onAsked(book);
    const end = () => {
      // A closed exchange and its response end separately: the first end counts.
      if (!this.#open.has(opened)) return;
      this.#open.delete(opened);
      // Abandoned requests prove nothing, and responses from before the outage may still be in transit.
      if (outage && IS_ITS_FAULT(behaviour) && book.ending === undefined) outage.failedAtMs.push(clock.nowMs());
      if (attempt.outcome === "open") attempt.outcome = exchange.closedAtMs === undefined ? "failed" : "given up";
    };
    void exchange.closed.then(end);
    this.#answer(exchange, book, attempt, behaviour, dialect).then(end, (error: unknown) => {
      onViolation("the simulation itself is sound", error instanceof Error ? (error.stack ?? "") : String(error));
    });
    return exchange;
  };

  #checkCredential(provider: string, { headers }: HttpRequest): void {
    const shown = CREDENTIALS.flatMap((name) => headers[name] ?? []).join();
    if (!secretsOf(provider).includes(shown.replace("Bearer ", "")))
      this.#options.onViolation("a provider only receives its own credential", `${provider} was shown "${shown}"`);
  }

  /** Resolves when nothing more comes. */
  async #answer(
    exchange: MemoryExchange,
    book: CallBook,
    attempt: ServedAttempt,
    behaviour: Behaviour,
    dialect: ScriptedDialect,
  ): Promise<void> {
    const { fault } = behaviour;
    const wire = WIRES[dialect];
    await this.#sleep(behaviour.delayMs);
    if (!exchange.isOpen) return;
    const json = (value: object, status = 200, headers: Record<string, string> = {}) => {
      exchange.head(status, headers);
      void exchange.write(JSON.stringify(value));
      exchange.end();
    };
    switch (fault) {
      case "refused":
        return exchange.fail("connect");
      case "stale":
      case "broken":
        return exchange.fail(fault);
      case "silent":
        return exchange.closed;
      case "status": {
        const { status = 500, retryAfterSeconds } = behaviour;
        const headers = retryAfterSeconds === undefined ? undefined : { "retry-after": String(retryAfterSeconds) };
        return json(wire.error(status, `no ${status}`), status, headers);
      }
      case "error_in_200":
        return json(wire.error(500, "no answer"));
      case "html":
        exchange.head(200, { "content-type": "text/html" });
        void exchange.write("<html><body>Welcome</body></html>");
        return exchange.end();
      case "garbage":
        exchange.head(200, { "content-type": attempt.stream ? "text/event-stream" : "application/json" });
        void exchange.write(attempt.stream ? "data: {no json\n\n" : "{no json");
        return exchange.end();
    }
    const speech = speechOf(book, attempt, behaviour);
    if (attempt.stream) await this.#streamAnswer(exchange, book, attempt, behaviour, speech, dialect);
    else await this.#wholeAnswer(exchange, attempt, behaviour, JSON.stringify(wire.whole(speech)));
  }

  async #wholeAnswer(
    exchange: MemoryExchange,
    attempt: ServedAttempt,
    { fault, gapMs }: Behaviour,
    text: string,
  ): Promise<void> {
    exchange.head();
    if (fault === undefined) {
      attempt.begun = true;
      attempt.finished = true;
      attempt.usageSent = true;
      attempt.outcome = "whole";
      void exchange.write(text);
      return exchange.end();
    }
    void exchange.write(text.slice(0, text.length >> 1));
    await this.#sleep(gapMs);
    if (!exchange.isOpen) return;
    if (fault === "stall") return exchange.closed;
    if (fault === "cut") return exchange.fail("broken");
    if (fault === "garbage_event") void exchange.write("}{");
    exchange.end();
  }

  async #streamAnswer(
    exchange: MemoryExchange,
    book: CallBook,
    attempt: ServedAttempt,
    { fault, at = 0, gapMs, eventsPerChunk }: Behaviour,
    speech: Speech,
    dialect: ScriptedDialect,
  ): Promise<void> {
    exchange.head(200, { "content-type": "text/event-stream" });
    const { events, contentFrom, contentUntil, usageUntil } = WIRES[dialect].events(speech);
    // A fault after the end of the content would have no effect.
    const until = fault === undefined ? events.length : Math.min(at, contentUntil);
    const step = Math.max(1, eventsPerChunk);
    for (let index = 0; index < until; index += step) {
      if (index > 0) await this.#sleep(gapMs);
      if (!exchange.isOpen) return;
      this.#checkStopped(book);
      const chunk = events.slice(index, Math.min(until, index + step)).join("");
      const sent = Math.min(until, index + step);
      attempt.begun ||= sent > contentFrom;
      attempt.finished ||= sent > contentUntil;
      attempt.usageSent ||= sent >= usageUntil;
      if (eventsPerChunk > 0) await exchange.write(chunk);
      else {
        // A chunk that ends in the middle of an event.
        const middle = chunk.length >> 1;
        void exchange.write(chunk.slice(0, middle));
        await this.#sleep(1);
        await exchange.write(chunk.slice(middle));
      }
    }
    if (!exchange.isOpen) return;
    switch (fault) {
      case undefined:
        attempt.outcome = "whole";
        return exchange.end();
      case "stall":
        return exchange.closed;
      case "cut":
        void exchange.write((events[until] ?? "").slice(0, 20));
        await this.#sleep(gapMs);
        return exchange.fail("broken");
      case "error_event":
        void exchange.write(WIRES[dialect].errorEvent("no more"));
        return exchange.end();
      case "garbage_event":
        void exchange.write("data: {no json\n\n");
        return exchange.end();
      default:
        return exchange.end();
    }
  }

  /** After a disconnect, a response is read on briefly but not to its end (H13, decision 0017). */
  #checkStopped({ plan, ending, endedAtMs }: CallBook): void {
    if (ending === "left" && this.#options.clock.nowMs() - endedAtMs > MAX_READ_ON_MS)
      this.#options.onViolation("abandoned work is stopped", `call ${plan.id} still generates`);
  }

  async #sleep(ms: number): Promise<void> {
    if (ms > 0) await this.#options.clock.sleep(ms);
  }
}

/** The call whose prompt comes last: earlier ones are history. */
function askedFor(body: string): number {
  const [digits = ""] = /^\d+/.exec(body.slice(body.lastIndexOf("call-") + "call-".length)) ?? [];
  return digits === "" ? Number.NaN : Number(digits);
}

const isStream = (dialect: ScriptedDialect, url: string, body: string): boolean =>
  dialect === "genai" ? url.includes("streamGenerateContent") : /"stream":\s*true/.test(body);

function makeAttempt(
  { plan }: CallBook,
  provider: string,
  { fault, status, usage, continues }: Behaviour,
  stream: boolean,
  atMs: number,
  body: string,
): ServedAttempt {
  const { word, lead } = continuedFrom(plan.id, body);
  return {
    provider,
    atMs,
    fault,
    status: fault === "status" ? (status ?? 500) : undefined,
    stream,
    isContinuation: word > 0,
    from: continues === undefined ? word : continues === "from the start" ? 0 : Math.max(0, word - REPEATED_WORDS),
    lead: continues === undefined ? lead : "",
    outcome: "open",
    begun: false,
    finished: false,
    usageSent: false,
    usage: usage === "none" || usage === "zero" ? undefined : usageOf(plan),
  };
}

/** For a continuation that repeats the end of what it continues. */
const REPEATED_WORDS = 2;

/** A request that quotes a response asks for its continuation after the last word. */
function continuedFrom(id: number, body: string): { word: number; lead: string } {
  const mark = `c${id}w`;
  const at = body.lastIndexOf(mark);
  if (at < 0) return { word: 0, lead: "" };
  const [digits = ""] = /^\d+/.exec(body.slice(at + mark.length)) ?? [];
  // The space after the last word may have been trimmed: the continuation then begins with it.
  const lead = /^-* /.test(body.slice(at + mark.length + digits.length)) ? "" : " ";
  return { word: Number(digits) + 1, lead };
}

const usageOf = ({ input, cached, output }: CallBook["plan"]): SpokenUsage => ({ input, cached, output });

function speechOf({ plan }: CallBook, { from, lead }: ServedAttempt, { usage }: Behaviour): Speech {
  const texts: string[] = [];
  for (let index = from; index < plan.words; index++) {
    texts.push((index === from ? lead : "") + wordOf(plan, index));
  }
  const nothing = { input: 0, cached: 0, output: 0 };
  return {
    texts,
    toolArguments: plan.tool ? argumentsOf(plan) : undefined,
    usage: usage === "none" ? undefined : usage === "zero" ? nothing : usageOf(plan),
    usageTwice: usage === "twice",
  };
}

/** The arguments of a call's tool. */
export const argumentsOf = (plan: { id: number; words: number }): string =>
  JSON.stringify({ query: wordsOf({ id: plan.id, padding: 0 }, plan.words, plan.words + 2) });
