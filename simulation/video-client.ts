import type { ServedConnection } from "../src/server/request-handler.ts";
import type { VirtualClock } from "../testing/virtual-clock.ts";
import { secretOf, VIDEO_MODEL } from "./configuration.ts";
import { GATEWAY_URL } from "./requests.ts";
import type { SimulatedProcess } from "./simulated-process.ts";
import type { VideoBook } from "./video-host.ts";

interface VideoClientOptions {
  clock: VirtualClock;
  /** The running process. */
  process: () => SimulatedProcess | undefined;
  onViolation: (rule: string, what: string) => void;
}

const PATH = `/api/genai/v1/publishers/${VIDEO_MODEL.replace("/", "/models/")}`;
const POLL_MS = 7_000;
const AGAIN_MS = 3_000;
const MAX_SUBMITS = 6;
/** Longer than a host takes, with every possible failure. */
const MAX_POLLS = 300;

/** What a client sees of one request: undefined if its connection was cut. */
type Answered = { status: number; body: Record<string, unknown> } | undefined;

/** A connection that only records what the server needs to know. */
class QuietConnection implements ServedConnection {
  readonly address = "127.0.0.1";
  trusted = false;
  held = false;

  hold(): void {
    this.held = true;
  }

  rest(): void {}
  hangUp(): void {}
}

/** A client that requests one video: submits it, again if it got no response, and polls it to its end. */
export class VideoClient {
  readonly #book: VideoBook;
  readonly #options: VideoClientOptions;

  constructor(book: VideoBook, options: VideoClientOptions) {
    this.#book = book;
    this.#options = options;
  }

  /** Resolves when the client has its video, or gives up. */
  async run(): Promise<void> {
    const { clock } = this.#options;
    const name = await this.#submit();
    if (name === undefined) return;
    this.#book.name = name;
    for (let polls = 0; polls < MAX_POLLS; polls++) {
      await clock.sleep(POLL_MS);
      const answered = await this.#post(":fetchPredictOperation", { operationName: name });
      if (answered === undefined || answered.status >= 500) continue;
      if (answered.status !== 200) {
        this.#violate(
          "an operation is there for its client",
          `HTTP ${answered.status} ${JSON.stringify(answered.body)}`,
        );
        return;
      }
      if (answered.body["done"] !== true) continue;
      this.#book.told = answered.body["error"] === undefined ? "done" : "failed";
      return;
    }
    this.#violate("every operation ends", `${name} does not`);
  }

  /** The operation's name; undefined if it was refused. */
  async #submit(): Promise<string | undefined> {
    const { plan } = this.#book;
    const body = {
      instances: [{ prompt: `call-${plan.id}- a fox` }],
      parameters: { durationSeconds: plan.seconds, generateAudio: false },
    };
    const headers: Record<string, string> = plan.isIdempotent ? { "idempotency-key": `video-${plan.id}` } : {};
    const names = new Set<string>();
    for (let submits = 0; submits < MAX_SUBMITS; submits++) {
      if (submits > 0) await this.#options.clock.sleep(AGAIN_MS);
      const leavesAfterMs = submits === 0 ? plan.leavesAfterMs : undefined;
      const answered = await this.#post(":predictLongRunning", body, headers, leavesAfterMs);
      if (answered?.status === 200) {
        const name = String(answered.body["name"]);
        names.add(name);
        if (names.size > 1) this.#violate("a repeated request is the same operation", [...names].join());
        return name;
      }
      // A client that got no response may submit again; without an Idempotency-Key, only if the gateway recognises the
      // repetition.
      if (!plan.isIdempotent) return undefined;
      if (answered !== undefined && answered.status !== 429 && answered.status < 500) return undefined;
    }
    return undefined;
  }

  async #post(verb: string, body: object, headers?: Record<string, string>, leavesAfterMs?: number): Promise<Answered> {
    const { clock } = this.#options;
    const process = this.#options.process();
    if (process === undefined) return undefined;
    const leaving = new AbortController();
    const text = JSON.stringify(body);
    const request = new Request(GATEWAY_URL + PATH + verb, {
      method: "POST",
      headers: {
        ...headers,
        host: "127.0.0.1:8080",
        authorization: `Bearer ${secretOf(this.#book.plan.key)}`,
        "content-type": "application/json",
        "content-length": String(Buffer.byteLength(text)),
      },
      body: text,
      signal: leaving.signal,
    });
    const answering = process.handle(request, new QuietConnection()).then(async (response) => ({
      status: response.status,
      body: JSON.parse(await response.text()) as Record<string, unknown>,
    }));
    const cuts = [process.killed];
    if (leavesAfterMs !== undefined) cuts.push(clock.sleep(leavesAfterMs).then(() => leaving.abort()));
    return Promise.race([answering, ...cuts.map((cut) => cut.then(() => undefined))]);
  }

  #violate(rule: string, what: string): void {
    this.#options.onViolation(rule, `video ${this.#book.plan.id}: ${what}`);
  }
}
