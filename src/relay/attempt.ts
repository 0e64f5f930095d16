import { GatewayError } from "../canon/error.ts";
import type { FieldNote } from "../canon/receipt.ts";
import type { OutgoingRequest } from "../providers/credentials.ts";
import type { TextTarget } from "../routing/target.ts";
import type { Exchange, HttpAnswer } from "../wire/http/exchange.ts";
import { readRetryAfter } from "../wire/http/retry-after.ts";
import { sendFailure } from "../wire/send.ts";
import { AttemptTimeouts } from "./attempt-timeouts.ts";
import { type AttemptRecord, type Call, ClientGoneError, type LeaveListener } from "./call.ts";
import { chooseLane } from "./choose-lane.ts";
import { connectionFailure } from "./connection-failure.ts";
import { type Gateway, shuttingDown } from "./gateway.ts";
import type { Lane } from "./lane.ts";
import { refuseNotes } from "./refuse-notes.ts";
import { addressRequest, prepareRequest } from "./upstream-request.ts";
import { NOT_WATCHED, type Watched } from "./watchdog.ts";

/** Bodies of failed answers are read up to here: only their error object matters. */
const MAX_ERROR_BYTES = 256 * 1024;

/** So many upstreams are read at once whose clients have left, and no more of each than this. */
export const MAX_LEFT_TEXTS = 256;
const MAX_LEFT_BYTES = 4 * 1024 * 1024;

const decoder = new TextDecoder();

/** One try of one offer: an upstream request that the client's leaving, a deadline or the end of the call stops. */
export class Attempt implements AttemptRecord, LeaveListener, Watched {
  watchIndex = NOT_WATCHED;
  readonly target: TextTarget;
  readonly lane: Lane;
  notes: FieldNote[] = [];
  terms: readonly string[] = [];
  readonly startedAtMs: number;
  readonly #call: Call;
  readonly #gateway: Gateway;
  #exchange: Exchange | undefined;
  #closed = false;
  #ended = false;
  /** Since when the upstream is read without the client, and how much of it was. */
  #leftAtMs: number | undefined;
  #leftBytes = 0;
  #held = 0;
  readonly #timeouts: AttemptTimeouts;
  /** What the upstream had not done when its time was up. */
  #expired: string | undefined;
  /** A kept connection was closed under the request: a new one is there at once, and no host needs a pause. */
  retryAtOnce = false;

  constructor(call: Call, gateway: Gateway, target: TextTarget) {
    this.#call = call;
    this.#gateway = gateway;
    this.target = target;
    this.lane = chooseLane(call, gateway, this);
    this.startedAtMs = gateway.clock.nowMs();
    const { timeoutMs, wholeTimeoutMs } = target.provider;
    const generatesWhole = !call.stream && call.incoming.verb === "generate";
    this.#timeouts = new AttemptTimeouts(generatesWhole ? wholeTimeoutMs : timeoutMs, this.startedAtMs);
    gateway.watchdog.watch(this);
    call.client.tell(this);
  }

  /** Whether there is a reason to end it by now. */
  check(nowMs: number): void {
    const { closing, timings } = this.#gateway;
    const leftLongAgo = this.#leftAtMs !== undefined && nowMs - this.#leftAtMs > timings.readOnMs;
    if (!closing && !leftLongAgo) {
      this.#expired = this.#timeouts.expiredAt(nowMs);
      if (this.#expired === undefined) return;
    }
    this.close();
  }

  /**
   * The client has left. What the upstream generates is paid all the same, and only its end tells how much that is: it is
   * read on without the client within bounds of time, bytes and number, then ended (H13, H26).
   */
  clientLeft(): void {
    if (this.#ended || this.#leftAtMs !== undefined) return;
    const gateway = this.#gateway;
    const atWork = this.#exchange !== undefined && this.#call.incoming.verb === "generate";
    if (!atWork || gateway.closing || gateway.leftTexts >= MAX_LEFT_TEXTS) {
      this.close();
      return;
    }
    gateway.leftTexts++;
    this.#leftAtMs = gateway.clock.nowMs();
  }

  get msSoFar(): number {
    return Math.round(this.#gateway.clock.nowMs() - this.startedAtMs);
  }

  /** Sends the request; resolves with a successful answer's headers, or throws what the failure means. */
  async open(): Promise<HttpAnswer> {
    const outgoing = await this.#makeRequest();
    let answer: HttpAnswer;
    try {
      if (this.#call.client.gone) throw new ClientGoneError();
      if (this.#closed) throw new Error("the attempt was ended while its address was made");
      this.#exchange = this.#gateway.send(outgoing);
      answer = await this.#exchange.answer();
    } catch (error) {
      throw this.explain(error);
    }
    this.#timeouts.begin();
    if (answer.status !== 200) throw await this.#refusal(answer);
    this.#call.request?.dropMedia();
    return answer;
  }

  async #makeRequest(): Promise<OutgoingRequest> {
    const { incoming, principal } = this.#call;
    const preparing = prepareRequest(this.#call, this.target, this.lane);
    const prepared = preparing instanceof Promise ? await preparing : preparing;
    this.notes = prepared.notes;
    this.terms = prepared.terms;
    if (incoming.strict || principal.strict) refuseNotes(this.notes);
    return addressRequest(this.#call, this.target, prepared);
  }

  async #refusal(answer: HttpAnswer): Promise<GatewayError> {
    const retryAfterSeconds = readRetryAfter(answer.headers.get("retry-after"), this.#gateway.clock.wallMs());
    this.expectEnd(this.#gateway.timings.afterFinishMs);
    const body = await this.#readAll(answer, MAX_ERROR_BYTES).catch((error: unknown) => {
      if (this.#call.client.gone || this.#gateway.closing) throw error;
      // Its status and its headers are told already (H19), whatever has become of its words.
      return "";
    });
    const { status } = answer;
    return this.lane
      .decodeError({ status, body, retryAfterSeconds })
      .withFailure({ status, ...(body && { said: body }) });
  }

  /** The whole body as text, within a bound. Each piece is a sign of life, and content where it is not blank. */
  readText(answer: HttpAnswer, maxBytes: number): Promise<string> {
    return this.#readAll(answer, maxBytes, (part) => this.#timeouts.hearText(part));
  }

  async #readAll(answer: HttpAnswer, maxBytes: number, hearText?: (part: Uint8Array) => void): Promise<string> {
    const parts: Uint8Array[] = [];
    let size = 0;
    const take = (part: Uint8Array): boolean => {
      this.hear(part.length);
      hearText?.(part);
      size += part.length;
      if (size > maxBytes) return false;
      this.hold(size);
      parts.push(part);
      return true;
    };
    let tooLarge: boolean;
    try {
      tooLarge = await answer.readWhile(take);
    } catch (error) {
      throw this.explain(error);
    }
    if (tooLarge) throw new GatewayError("upstream_failed", `The provider's answer is larger than ${maxBytes} bytes.`);
    const [first] = parts;
    return decoder.decode(parts.length === 1 ? first : Buffer.concat(parts, size));
  }

  /** The upstream gave a sign of life, and so many bytes with it. */
  hear(bytes = 0): void {
    this.#timeouts.hear();
    if (this.#leftAtMs === undefined) return;
    this.#leftBytes += bytes;
    if (this.#leftBytes > MAX_LEFT_BYTES) this.close();
  }

  /** Counts what is held of the upstream's answer now against what all calls may hold; throws where that is too much (S23). */
  hold(bytes: number): void {
    const { memory } = this.#call;
    if (bytes > this.#held) memory.add(bytes - this.#held);
    else if (bytes < this.#held) memory.release(this.#held - bytes);
    this.#held = bytes;
  }

  /** The answer is whole: from here on only the end of its bytes is waited for, and not for long. */
  expectEnd(withinMs: number): void {
    this.#timeouts.expectEnd(withinMs);
  }

  /** What counts the content of a stream. */
  follow(content: () => number): void {
    this.#timeouts.follow(content);
  }

  pause(): void {
    this.#timeouts.pause();
  }

  resume(): void {
    this.#timeouts.resume();
  }

  /** What a broken upstream connection means for this call. */
  explain(thrown: unknown): GatewayError {
    if (thrown instanceof GatewayError) return thrown;
    // While it is read on for a client that has left, a failure of the upstream's is its own.
    if (this.#call.client.gone && this.#closed) return new ClientGoneError();
    if (this.#gateway.closing) return shuttingDown();
    if (this.#expired !== undefined)
      return new GatewayError("upstream_timeout", `The provider ${this.#expired}.`, { cause: thrown });
    const kind = sendFailure(thrown);
    this.retryAtOnce = kind === "stale";
    return connectionFailure(kind, thrown);
  }

  /** Ends the upstream request, finished or not. */
  close(): void {
    this.finish();
    this.#closed = true;
    this.#exchange?.close();
    this.hold(0);
  }

  /** The answer was read to its end: nothing is left to stop. */
  finish(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#gateway.watchdog.unwatch(this);
    this.#call.client.forget(this);
    if (this.#leftAtMs !== undefined) this.#gateway.leftTexts--;
  }
}

export const beginAttempt =
  (call: Call, gateway: Gateway) =>
  (target: TextTarget): Attempt =>
    new Attempt(call, gateway, target);
