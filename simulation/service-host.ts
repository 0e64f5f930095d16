import type { HttpRequest } from "../src/wire/http/http-exchange.ts";
import { sentText } from "../testing/hosts/sent-text.ts";
import { MemoryExchange } from "../testing/memory-exchange.ts";
import type { VirtualClock } from "../testing/virtual-clock.ts";
import type { ClientEnding } from "./book.ts";
import type { Behaviour, Fault, ServicePlan } from "./scenario.ts";
import { SERVICE_PROVIDERS, secretOfService } from "./service-configuration.ts";
import { answerOf, type HostAnswer } from "./service-wires.ts";
import type { Trace } from "./trace.ts";

/** One request of a call as its host saw it. */
interface ServiceRequest {
  readonly provider: string;
  /** A digest of its body, to recognise repeated requests. */
  readonly digest: string;
  readonly fault: Fault | undefined;
  readonly status: number | undefined;
  /** `whole`: everything was sent. */
  outcome: "open" | "whole" | "failed" | "given up";
  /** Part of the response was sent. */
  begun: boolean;
  /** The usage it reports; undefined if it reports none. */
  usage: HostAnswer["usage"];
}

/** Everything the simulation knows about one service call. */
export interface ServiceBook {
  readonly plan: ServicePlan;
  readonly process: number;
  readonly sentAtMs: number;
  /** The random part of its request id, which follows the time. */
  requestEnd: string;
  readonly requests: ServiceRequest[];
  /** `cut` also covers byte streams that break, which have no place for an error. */
  ending: ClientEnding | undefined;
  endedAtMs: number;
  status: number;
  receiptId: string | undefined;
  content: string;
  isSettled: boolean;
  wasCrowded: boolean;
}

interface ServiceHostOptions {
  clock: VirtualClock;
  trace: Trace;
  bookOf: (id: number) => ServiceBook | undefined;
  onAsked: (book: ServiceBook) => void;
  onViolation: (rule: string, what: string) => void;
}

const HEALTHY: Behaviour = { delayMs: 20, gapMs: 5, eventsPerChunk: 1, usage: "true" };
/** Two seconds, plus the time the watchdog needs to notice. */
const MAX_READ_ON_MS = 2_300;

const PROVIDER_OF_HOST: ReadonlyMap<string, string> = new Map(
  Object.entries(SERVICE_PROVIDERS).map(([name, { baseUrl }]) => [new URL(baseUrl).host, name]),
);

export const isServiceHost = (host: string): boolean => PROVIDER_OF_HOST.has(host);

/** Service hosts, in memory: respond as each call's plan says, and record it. */
export class SimulatedServiceHost {
  readonly #options: ServiceHostOptions;
  readonly #open = new Map<MemoryExchange, ServiceBook>();

  constructor(options: ServiceHostOptions) {
    this.#options = options;
  }

  get open(): number {
    return this.#open.size;
  }

  /** Calls of a key that have a request in flight. */
  callsUnderWay(key: string): number {
    const calls = new Set<number>();
    for (const { plan } of this.#open.values()) if (plan.key === key) calls.add(plan.id);
    return calls.size;
  }

  cutAll(): void {
    for (const exchange of [...this.#open.keys()]) exchange.close();
  }

  send({ url, body, headers }: HttpRequest): MemoryExchange {
    const { clock, trace, bookOf, onAsked, onViolation } = this.#options;
    const exchange = new MemoryExchange(clock);
    const provider = PROVIDER_OF_HOST.get(new URL(url).host) ?? "";
    const text = sentText(body, "latin1");
    const book = bookOf(Number(/\bcall-(\d+)-/.exec(text)?.[1] ?? Number.NaN));
    if (book === undefined) {
      onViolation("every request belongs to a call", `${url} was sent ${text.slice(0, 200)}`);
      exchange.fail("connect");
      return exchange;
    }
    if (headers["authorization"] !== `Bearer ${secretOfService(provider)}`)
      onViolation("a provider only receives its own credential", `${provider}: ${headers["authorization"]}`);
    const behaviour = book.plan.providers[book.requests.length] ?? HEALTHY;
    const { fault, status = 500 } = behaviour;
    const request: ServiceRequest = {
      provider,
      digest: String(Bun.hash(text)),
      fault,
      status: fault === "status" ? status : undefined,
      outcome: "open",
      begun: false,
      usage: undefined,
    };
    book.requests.push(request);
    trace.note(`call ${book.plan.id} asks ${provider} ${fault ?? "well"} ${text.length} characters`);
    this.#open.set(exchange, book);
    onAsked(book);
    const end = () => {
      if (!this.#open.delete(exchange)) return;
      if (request.outcome === "open") request.outcome = exchange.closedAtMs === undefined ? "failed" : "given up";
    };
    void exchange.closed.then(end);
    this.#answer(exchange, { book, request, behaviour, text }).then(end, (error: unknown) => {
      onViolation("the simulation itself is sound", error instanceof Error ? (error.stack ?? "") : String(error));
    });
    return exchange;
  }

  async #answer(exchange: MemoryExchange, asked: Asked): Promise<void> {
    const { book, request, behaviour, text } = asked;
    await this.#options.clock.sleep(behaviour.delayMs);
    if (!exchange.isOpen) return;
    const json = (value: object, status = 200, headers: Record<string, string> = {}) => {
      exchange.head(status, { "content-type": "application/json", ...headers });
      void exchange.write(JSON.stringify(value));
      exchange.end();
    };
    const error = (status: number) => ({ error: { message: `no ${status}`, type: "server_error", code: null } });
    switch (behaviour.fault) {
      case "refused":
        return exchange.fail("connect");
      case "stale":
      case "broken":
        return exchange.fail(behaviour.fault);
      case "silent":
        return exchange.closed;
      case "status": {
        const { status = 500, retryAfterSeconds } = behaviour;
        return json(error(status), status, retryAfterSeconds ? { "retry-after": String(retryAfterSeconds) } : {});
      }
      case "error_in_200":
        return json(error(500));
      case "html":
        exchange.head(200, { "content-type": "text/html" });
        void exchange.write("<html><body>Welcome</body></html>");
        return exchange.end();
      case "garbage":
        exchange.head(200, { "content-type": "application/json" });
        void exchange.write("{no json");
        return exchange.end();
    }
    const answer = answerOf(
      book.plan,
      request.provider,
      text,
      behaviour.usage !== "none" && behaviour.usage !== "zero",
    );
    request.usage = answer.usage;
    exchange.head(200, { "content-type": answer.type });
    await (answer.isStream ? this.#stream(exchange, answer, asked) : this.#whole(exchange, answer, asked));
  }

  async #whole(exchange: MemoryExchange, { parts }: HostAnswer, { request, behaviour }: Asked): Promise<void> {
    const { fault, gapMs } = behaviour;
    const text = String(parts[0]);
    request.begun = true;
    if (fault === undefined) {
      request.outcome = "whole";
      void exchange.write(text);
      return exchange.end();
    }
    void exchange.write(text.slice(0, text.length >> 1));
    await this.#options.clock.sleep(gapMs);
    if (!exchange.isOpen) return;
    if (fault === "stall") return exchange.closed;
    if (fault === "cut") return exchange.fail("broken");
    if (fault === "garbage_event") void exchange.write("}{");
    exchange.end();
  }

  async #stream(exchange: MemoryExchange, { parts, type }: HostAnswer, asked: Asked): Promise<void> {
    const { book, request, behaviour } = asked;
    const { fault, at = 0, gapMs } = behaviour;
    // A response that breaks off never includes the end marker.
    const until = fault === undefined ? parts.length : Math.min(at, Math.max(0, parts.length - LAST_PARTS));
    for (const part of parts.slice(0, until)) {
      await this.#options.clock.sleep(gapMs);
      if (!exchange.isOpen) return;
      this.#checkStopped(book);
      request.begun = true;
      await exchange.write(part);
    }
    if (!exchange.isOpen) return;
    if (fault === undefined) {
      request.outcome = "whole";
      return exchange.end();
    }
    if (fault === "stall") return exchange.closed;
    // A byte stream has no end marker: one closed too early looks whole.
    if (fault === "cut" || type !== "text/event-stream") return exchange.fail("broken");
    if (fault === "error_event") void exchange.write('data: {"error":{"message":"no more","type":"server_error"}}\n\n');
    if (fault === "garbage_event") void exchange.write("data: {no json\n\n");
    exchange.end();
  }

  /**
   * After a disconnect, a response is read on briefly, except a recording, which is processed to its end (decision
   * 0017).
   */
  #checkStopped({ plan, ending, endedAtMs }: ServiceBook): void {
    if (plan.service === "transcriptions" || ending !== "left") return;
    if (this.#options.clock.nowMs() - endedAtMs > MAX_READ_ON_MS)
      this.#options.onViolation("abandoned work is stopped", `call ${plan.id} still generates`);
  }
}

/** The end of a completion: stop reason, usage and end marker. */
const LAST_PARTS = 3;

interface Asked {
  book: ServiceBook;
  request: ServiceRequest;
  behaviour: Behaviour;
  text: string;
}
