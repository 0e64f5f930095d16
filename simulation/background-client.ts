import type { ServedConnection } from "../src/server/request-handler.ts";
import type { VirtualClock } from "../testing/virtual-clock.ts";
import type { CallBook } from "./book.ts";
import { secretOf } from "./configuration.ts";
import { readWhole } from "./read-answer.ts";
import { requestEnd } from "./request-end.ts";
import { GATEWAY_URL, requestOf } from "./requests.ts";
import type { SimulatedProcess } from "./simulated-process.ts";
import { wordsOf } from "./speech.ts";

interface BackgroundOptions {
  clock: VirtualClock;
  /** The running process. */
  process: () => SimulatedProcess | undefined;
  onViolation: (rule: string, what: string) => void;
  /** Called with the id of the response. */
  onBegun: (id: string) => void;
}

interface Seen {
  status: number;
  /** NaN if the response does not say. */
  retryAfterSeconds: number;
  text: string;
}

const POLL_MS = 900;
/** A window of rates, and the second in which it began. */
const MINUTE_SECONDS = 61;
/** Longer than a response takes, including the time until a killed process's response is marked failed. */
const MAX_POLLS = 1_500;

const connection = (): ServedConnection => ({
  address: "127.0.0.1",
  trusted: false,
  held: false,
  hold: () => {},
  rest: () => {},
  hangUp: () => {},
});

/** A client that requests a background response and polls it to its end, whatever is killed meanwhile. */
export class BackgroundClient {
  readonly #book: CallBook;
  readonly #options: BackgroundOptions;
  readonly #begunBy: SimulatedProcess;

  constructor(book: CallBook, process: SimulatedProcess, options: BackgroundOptions) {
    this.#book = book;
    this.#options = options;
    this.#begunBy = process;
  }

  /** Sends the request at once. Resolves when the client has its response, or gives up. */
  async run(): Promise<void> {
    const { plan } = this.#book;
    this.#begunBy.ids.tellNext((id) => {
      this.#book.requestEnd = requestEnd(id);
    });
    const begun = await this.#send(this.#begunBy, requestOf(plan, new AbortController().signal));
    if (begun === undefined) return this.#end("cut");
    this.#book.status = begun.status;
    if (begun.status !== 200) return this.#end("failed");
    const { id } = JSON.parse(begun.text) as { id: string };
    this.#options.onBegun(id);
    for (let polls = 0; polls < MAX_POLLS; polls++) {
      await this.#options.clock.sleep(POLL_MS);
      const state = await this.#poll(id);
      if (state === "completed" || state === "failed") return this.#check(id, state);
    }
    this.#violate("every background response ends", `${id} does not`);
  }

  async #poll(id: string): Promise<string | undefined> {
    const process = this.#options.process();
    const seen = process && (await this.#send(process, this.#look(id)));
    if (seen === undefined || seen.status >= 500) return undefined;
    // Polls count towards the key's rate (decision 0088), so the gateway must say when the next one is within it.
    if (seen.status === 429 && seen.retryAfterSeconds > 0 && seen.retryAfterSeconds <= MINUTE_SECONDS) {
      await this.#options.clock.sleep(seen.retryAfterSeconds * 1_000);
      return undefined;
    }
    if (seen.status !== 200) {
      this.#violate("a background response is available to its client", `HTTP ${seen.status}`);
      return "failed";
    }
    const { status } = JSON.parse(seen.text) as { status: string };
    if (status === "completed") this.#book.text = readWhole("responses", 200, seen.text).text;
    return status;
  }

  /** The response has ended: from now on every poll must return the same. */
  async #check(id: string, state: "completed" | "failed"): Promise<void> {
    const { plan, text } = this.#book;
    if (state === "completed" && text !== wordsOf(plan, 0, plan.words))
      this.#violate("no text is lost or repeated", `"${text.slice(0, 200)}" of ${plan.words} words`);
    for (let again = 0; again < 3; again++) {
      await this.#options.clock.sleep(POLL_MS);
      const later = await this.#poll(id);
      if (later !== undefined && later !== state)
        this.#violate("a background response ends once", `${state}, then ${later}`);
    }
    // The cause of a failure is unknown here: the provider, the store, or a killed process.
    this.#end(state === "completed" ? "whole" : "cut");
  }

  #look(id: string): Request {
    const headers = { host: "127.0.0.1:8080", authorization: `Bearer ${secretOf(this.#book.plan.key)}` };
    return new Request(`${GATEWAY_URL}/v1/responses/${id}`, { headers });
  }

  /** Undefined if the connection was cut. */
  async #send(process: SimulatedProcess, request: Request): Promise<Seen | undefined> {
    const answering = process.handle(request, connection()).then(async (response) => {
      this.#book.receiptId ??= response.headers.get("x-trivium-receipt") ?? undefined;
      const retryAfterSeconds = Number(response.headers.get("retry-after") ?? Number.NaN);
      return { status: response.status, retryAfterSeconds, text: await response.text() };
    });
    return await Promise.race([answering, process.killed.then(() => undefined)]);
  }

  #end(ending: CallBook["ending"]): void {
    this.#book.ending = ending;
    this.#book.endedAtMs = this.#options.clock.nowMs();
  }

  #violate(rule: string, what: string): void {
    this.#options.onViolation(rule, `call ${this.#book.plan.id}: ${what}`);
  }
}
