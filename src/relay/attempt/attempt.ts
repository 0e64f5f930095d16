import { GatewayError } from "../../canon/error.ts";
import { BATCH } from "../../canon/terms.ts";
import type { AttemptCapture, CallCapture } from "../../capture/call-capture.ts";
import { termsBeforeAnswer } from "../../catalogue/price-call.ts";
import type { NamedFile } from "../../dialects/request/file-parts.ts";
import type { OutgoingRequest } from "../../providers/credentials.ts";
import type { Timed } from "../../routing/health/health.ts";
import type { TextTarget } from "../../routing/target.ts";
import type { ChunkTaker, HttpAnswer, HttpExchange } from "../../wire/http/http-exchange.ts";
import { readRetryAfter } from "../../wire/http/retry-after.ts";
import { sendFailure } from "../../wire/send.ts";
import { KeptExchange } from "../batch/kept-exchange.ts";
import {
  type Call,
  ClientDisconnectedError,
  EndedError,
  type KeptResponse,
  type LaneAttempt,
  OutrunError,
} from "../call.ts";
import { placeFiles } from "../files/place-files.ts";
import { PlacedFiles } from "../files/placed-files.ts";
import { type Gateway, shuttingDown } from "../gateway.ts";
import { CapturedAnswer, NOT_CAPTURED } from "../settle/capture-call.ts";
import { addTrace } from "../settle/trace-call.ts";
import { answerText } from "./answer-text.ts";
import { AttemptTimeouts } from "./attempt-timeouts.ts";
import { chooseLane } from "./choose-lane.ts";
import { connectionFailure } from "./connection-failure.ts";
import type { Lane } from "./lane.ts";
import { refuseNotes } from "./refuse-notes.ts";
import { completeRequest, prepareForTarget } from "./upstream-request.ts";
import { WatchedAttempt } from "./watched-attempt.ts";
import { withOwnId } from "./with-own-id.ts";

/** How much of an error response is read: only its error object matters. */
const MAX_ERROR_BYTES = 256 * 1024;

/** How much of an upstream is read after its client disconnected. */
const MAX_ORPHANED_BYTES = 4 * 1024 * 1024;

type MakeLane = (call: Call, gateway: Gateway, attempt: LaneAttempt) => Lane;

/** One attempt at one offer for text: one upstream request whose response is read whole or as a stream. */
export class Attempt extends WatchedAttempt<Call, TextTarget> {
  readonly lane: Lane;
  #exchange: HttpExchange | undefined;
  #closed = false;
  /** What was read since the client disconnected. */
  #orphanedBytes = 0;
  #held = 0;
  /** How long the gateway has waited for its client. While it waits, the start time is subtracted. */
  #pausedMs = 0;
  readonly #timeouts: AttemptTimeouts;
  /** The timeout that expired. */
  #expired: string | undefined;
  /** The caller's deadline, if it has passed. */
  #endedFor: EndedError | undefined;
  /** The host closed a kept-alive connection as it was reused. A new one can be opened at once. */
  retryAtOnce = false;
  capture: AttemptCapture | undefined;
  /** Set if the request names files that the target gets in its own way. */
  #files: PlacedFiles | undefined;
  #ending: AbortController | undefined;
  /** A file was missing at the provider, and uploaded again. */
  #hasRenewed = false;

  constructor(call: Call, gateway: Gateway, target: TextTarget, makeLane: MakeLane = chooseLane) {
    super(call, gateway, target);
    this.lane = makeLane(call, gateway, this);
    const { timeoutMs, wholeTimeoutMs } = target.provider;
    const generatesWhole = !call.stream && call.incoming.verb === "generate";
    this.#timeouts = new AttemptTimeouts(generatesWhole ? wholeTimeoutMs : timeoutMs, this.startedAtMs);
    this.watch();
  }

  /** The response, if a batch API returned it earlier. */
  get #kept(): KeptResponse | undefined {
    return this.call.incoming.line?.native?.response;
  }

  /** How many files the provider was sent before the request, and how many it had. */
  get files(): { uploaded: number; reused: number } | undefined {
    if (this.#files === undefined || this.#files.placed.size === 0) return undefined;
    const { placed, uploaded } = this.#files;
    return { uploaded, reused: placed.size - uploaded };
  }

  get isKept(): boolean {
    return this.#kept !== undefined;
  }

  protected get orphans() {
    return "orphanedTexts" as const;
  }

  protected get isAtWork(): boolean {
    return this.#exchange !== undefined && this.call.incoming.verb === "generate";
  }

  /** Whether there is a reason to end it by now. */
  override check(nowMs: number): void {
    const { closing, timings } = this.gateway;
    const readOnLongEnough = this.orphanedAtMs !== undefined && nowMs - this.orphanedAtMs > timings.readOnMs;
    if (!closing && !readOnLongEnough) {
      this.#expired = this.#timeouts.expiredAt(nowMs);
      if (this.#expired === undefined) return;
    }
    this.close();
  }

  protected end(reason: GatewayError): void {
    if (reason instanceof EndedError) this.#endedFor = reason;
    this.close();
  }

  /** Another attempt for this call answered first. Returns true if this provider was working, which is billed all the same. */
  outrun(): boolean {
    const wasAtWork = this.isAtWork && !this.#closed;
    this.end(new OutrunError());
    return wasAtWork;
  }

  get timed(): Timed | undefined {
    const { stream, incoming } = this.call;
    if (incoming.verb !== "generate") return undefined;
    return stream ? "stream" : "whole";
  }

  get workedMs(): number {
    return this.gateway.clock.nowMs() - this.startedAtMs - this.#pausedMs;
  }

  /** Sends the request; resolves with a successful answer's headers, or throws what the failure means. */
  async open(): Promise<HttpAnswer> {
    const outgoing = await this.#makeRequest();
    let answer: HttpAnswer;
    try {
      if (this.call.client.disconnected) throw new ClientDisconnectedError();
      if (this.#closed) throw new Error("the attempt ended while its request was being prepared");
      if (this.call.capture !== undefined) this.#beginCapture(this.call.capture, outgoing);
      this.call.timer.to("provider");
      this.#exchange = this.#kept === undefined ? this.gateway.send(outgoing) : new KeptExchange(this.#kept);
      answer = await this.#exchange.answer();
      if (this.capture !== undefined) answer = this.#captured(answer, this.capture);
    } catch (error) {
      throw this.explain(error);
    }
    this.#timeouts.begin();
    const { limitHeaders } = this.target.codec;
    if (limitHeaders !== undefined) this.gateway.health.noteLimits(this.target, answer.headers, limitHeaders);
    if (answer.status !== 200) {
      const refusal = await this.#refusal(answer);
      if (await this.#renewFiles(refusal)) return this.open();
      throw refusal;
    }
    this.call.request?.dropMedia();
    return answer;
  }

  /** What guards may change is captured as the client gets it, and not as it came. */
  #captured(answer: HttpAnswer, capture: AttemptCapture): HttpAnswer {
    if (!this.call.guards?.inForce.actsOnResponse) return new CapturedAnswer(answer, capture);
    capture.answer.set(NOT_CAPTURED);
    return answer;
  }

  #beginCapture(capture: CallCapture, { body = "" }: OutgoingRequest): void {
    this.capture = capture.attemptBegins((text) => this.target.provider.withoutSecrets(text));
    this.capture.request.set(body);
  }

  async #makeRequest(): Promise<OutgoingRequest> {
    const { incoming, principal } = this.call;
    const named = this.call.request?.received.files;
    if (named !== undefined) await this.#placeFiles(named);
    const prepared = await prepareForTarget(this.call, this.target, this.lane, this.#files);
    this.notes = prepared.notes;
    const terms = termsBeforeAnswer(prepared.terms, this.target);
    this.terms = this.#kept === undefined ? terms : [...terms, BATCH];
    if (incoming.strict || principal.strict) refuseNotes(this.notes);
    const outgoing = await completeRequest(this.call, this.target, prepared);
    const { trace } = this.call;
    if (trace !== undefined && this.target.provider.tracesCalls) addTrace(outgoing, trace, this, this.gateway);
    return outgoing;
  }

  /** The time for uploads is the provider's, and is not counted as the time of its response. */
  async #placeFiles(named: ReadonlyMap<string, NamedFile>): Promise<void> {
    const { call, target, gateway } = this;
    if (call.request === undefined) return;
    this.#ending = new AbortController();
    if (this.#closed) this.#ending.abort();
    this.pause();
    call.timer.to("provider");
    try {
      const before = this.#files?.uploaded ?? 0;
      const made = await placeFiles(call, call.request, named, target, gateway, this.#ending.signal);
      this.#files = new PlacedFiles({ ...made, uploaded: before + made.uploaded });
    } catch (error) {
      throw this.#ending.signal.aborted ? this.explain(error) : error;
    } finally {
      this.#ending = undefined;
      call.timer.to("gateway");
      this.resume();
    }
  }

  /** Whether the provider refuses the request because a file is gone there. It is uploaded again, once. */
  async #renewFiles({ failure }: GatewayError): Promise<boolean> {
    const { status = 0, said = "" } = failure ?? {};
    const at = this.#files?.at;
    if (at === undefined || this.#files === undefined || this.#hasRenewed || status < 400 || status > 404) return false;
    if (this.#closed || this.call.client.disconnected || this.isKept) return false;
    const { filesAtProviders } = this.gateway;
    for (const { file, providerId } of this.#files.placed.values()) {
      if (!said.includes(endOf(providerId))) continue;
      if (await filesAtProviders.forgetIfGone(file, at, providerId)) this.#hasRenewed = true;
    }
    return this.#hasRenewed;
  }

  async #refusal(answer: HttpAnswer): Promise<GatewayError> {
    const retryAfterSeconds = readRetryAfter(answer.headers.get("retry-after"), this.gateway.clock.wallMs());
    this.expectEnd(this.gateway.timings.afterFinishMs);
    let body = "";
    try {
      body = answerText(await this.#readWhole(answer, new WholeBody(this, MAX_ERROR_BYTES)));
    } catch (error) {
      // Status and headers have arrived (H19), even if the body cannot be read.
      if (this.call.client.disconnected || this.gateway.closing) throw error;
    }
    const { status } = answer;
    let error = this.lane.decodeError({ status, body, retryAfterSeconds });
    for (const [own, { providerId }] of this.#files?.placed ?? [])
      error = withOwnId(error, { own, provider: providerId });
    return error.withFailure({ status, ...(body && { said: body }) });
  }

  /** The whole body, up to a limit. Each chunk is a sign of life, and content where it is not blank. */
  readBytes(answer: HttpAnswer, maxBytes: number): Buffer | Promise<Buffer> {
    return this.#readWhole(answer, new WholeBody(this, maxBytes, this.#timeouts));
  }

  #readWhole(answer: HttpAnswer, whole: WholeBody): Buffer | Promise<Buffer> {
    try {
      const tooLarge = answer.readWhile(whole);
      return typeof tooLarge === "boolean" ? whole.bytesUnless(tooLarge) : this.#readToEnd(tooLarge, whole);
    } catch (error) {
      throw this.explain(error);
    }
  }

  async #readToEnd(reading: Promise<boolean>, whole: WholeBody): Promise<Buffer> {
    try {
      return whole.bytesUnless(await reading);
    } catch (error) {
      throw this.explain(error);
    }
  }

  /** The upstream sent something: this many bytes. */
  received(bytes = 0): void {
    this.#timeouts.received();
    if (this.orphanedAtMs === undefined) return;
    this.#orphanedBytes += bytes;
    if (this.#orphanedBytes > MAX_ORPHANED_BYTES) this.close();
  }

  /** Counts buffered parts of the response against the memory of all calls. Throws if that is too much (S23). */
  hold(bytes: number): void {
    const { memory } = this.call;
    if (bytes > this.#held) memory.add(bytes - this.#held);
    else if (bytes < this.#held) memory.release(this.#held - bytes);
    this.#held = bytes;
  }

  /** The answer is complete: only the end of its bytes is still awaited, and not for long. */
  expectEnd(withinMs: number): void {
    this.#timeouts.expectEnd(withinMs);
  }

  /** Takes the function that counts the content of a stream. */
  follow(content: () => number): void {
    this.#timeouts.follow(content);
  }

  get contentSoFar(): number | undefined {
    return this.#timeouts.contentSoFar;
  }

  pause(): void {
    this.#timeouts.pause();
    this.#pausedMs -= this.gateway.clock.nowMs();
  }

  resume(): void {
    this.#timeouts.resume();
    this.#pausedMs += this.gateway.clock.nowMs();
  }

  /** What a broken upstream connection means for this call. */
  explain(thrown: unknown): GatewayError {
    if (thrown instanceof GatewayError) return thrown;
    // If the response is read on without its client, a failure is the upstream's own.
    if (this.call.client.disconnected && this.#closed) return new ClientDisconnectedError();
    if (this.gateway.closing) return shuttingDown();
    if (this.#endedFor) return this.#endedFor;
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
    this.#ending?.abort();
    this.#exchange?.close();
    this.hold(0);
  }
}

/** Providers quote the whole name of a file, or its end. */
const endOf = (providerId: string): string => providerId.slice(providerId.lastIndexOf("/") + 1);

/** Collects the body of an answer. */
class WholeBody implements ChunkTaker {
  readonly #maxBytes: number;
  readonly #attempt: Attempt;
  /** Where its chunks count as content. */
  readonly #timeouts: AttemptTimeouts | undefined;
  #parts: Uint8Array[] | undefined;
  #first: Uint8Array | undefined;
  #size = 0;

  constructor(attempt: Attempt, maxBytes: number, timeouts?: AttemptTimeouts) {
    this.#maxBytes = maxBytes;
    this.#attempt = attempt;
    this.#timeouts = timeouts;
  }

  take(chunk: Uint8Array): boolean {
    this.#attempt.received(chunk.length);
    this.#timeouts?.receivedText(chunk);
    this.#size += chunk.length;
    if (this.#size > this.#maxBytes) return false;
    this.#attempt.hold(this.#size);
    if (this.#first === undefined) this.#first = chunk;
    else {
      this.#parts ??= [this.#first];
      this.#parts.push(chunk);
    }
    return true;
  }

  /** Most answers come in one chunk. */
  bytesUnless(tooLarge: boolean): Buffer {
    if (tooLarge)
      throw new GatewayError("upstream_failed", `The provider's response is larger than ${this.#maxBytes} bytes.`);
    if (this.#parts !== undefined) return Buffer.concat(this.#parts, this.#size);
    if (this.#first === undefined) return Buffer.alloc(0);
    const { buffer, byteOffset, length } = this.#first;
    return Buffer.from(buffer, byteOffset, length);
  }
}

export const beginAttempt =
  (call: Call, gateway: Gateway) =>
  (target: TextTarget): Attempt =>
    new Attempt(call, gateway, target);
