import { GatewayError } from "../../canon/error.ts";
import { boundNotes } from "../../canon/notes.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import { BATCH } from "../../canon/terms.ts";
import { completionTokens, promptTokens, sumUsage, type Usage, type UsageSource } from "../../canon/usage.ts";
import type { AttemptCapture } from "../../capture/call-capture.ts";
import { priceUsage } from "../../catalogue/pricing.ts";
import type { AdapterContext, MediaAnswer, MediaRequest } from "../../media/adapter.ts";
import type { ProviderServices } from "../../providers/provider-services.ts";
import type { ServiceTarget } from "../../routing/target.ts";
import type { ServiceName } from "../../services/service-adapters.ts";
import { isSuccess, openExchange, type ProviderExchange, readAnswer } from "../attempt/provider-exchange.ts";
import { refuseNotes } from "../attempt/refuse-notes.ts";
import { WatchedAttempt } from "../attempt/watched-attempt.ts";
import { KeptExchange } from "../batch/kept-exchange.ts";
import { PreparedError } from "../batch/prepared-error.ts";
import { type Call, ClientDisconnectedError, type IncomingRequest, type KeptResponse } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { firstRequestCapture } from "../settle/capture-call.ts";
import { traceLines } from "../settle/trace-call.ts";

const LANE = { name: "translated" } as const;

/** How much of an error response is read: only its error object matters. */
const MAX_ERROR_BYTES = 256 * 1024;

const tokensOf = (usage: Usage): number => promptTokens(usage) + completionTokens(usage);

/** Estimates use four characters per token and ignore what a host adds. They are never this far off. */
const mostTokens = (expected: Usage): number =>
  tokensOf(expected) === 0 ? Number.POSITIVE_INFINITY : 16 * tokensOf(expected) + 10_000;

/** Work of a provider that it bills. */
interface Used {
  usage: Usage;
  source: UsageSource;
}

/** Billable work in progress, from the request until its usage is known. */
interface OpenWork {
  readonly expected: Usage;
}

/** What the gateway knows about finished work. */
interface KnownUse {
  /** Billed if the provider reports no usage or an implausible one. Defaults to the estimate. */
  instead?: Usage;
  source?: UsageSource;
  /** Whether a reported usage is plausible. */
  isPlausible?: (reported: Usage) => boolean;
}

/** Options of an exchange. */
interface OpenOptions {
  /** Set if the body is passed on as it arrives: the time allowed for each part. */
  idleMs?: number;
}

type WatchedCall = Pick<
  Call,
  "client" | "startedAtMs" | "timer" | "routing" | "principal" | "receiptId" | "memory" | "trace"
> & {
  incoming: Pick<IncomingRequest, "strict" | "line" | "cause">;
  capture?: Call["capture"];
  guards?: Call["guards"];
  notes: readonly FieldNote[];
};

/** One attempt at one offer for a service: one upstream request, or several concurrently. */
export class ServiceAttempt<Name extends ServiceName = ServiceName> extends WatchedAttempt<
  WatchedCall,
  ServiceTarget<Name>
> {
  readonly lane = LANE;
  readonly timed = "whole";
  readonly #ending = new AbortController();
  readonly #open = new Set<OpenWork>();
  #used: Used | undefined;
  #held = 0;
  capture: AttemptCapture | undefined;
  /** The requests that it would send, if they are only prepared. */
  readonly prepared: MediaRequest[] = [];

  constructor(call: WatchedCall, gateway: Gateway, target: ServiceTarget<Name>) {
    super(call, gateway, target);
    this.notes = [...call.notes];
    if (this.isKept) this.terms = [BATCH];
    this.watch();
  }

  /** The response, if a batch API returned it earlier. */
  get #kept(): KeptResponse | undefined {
    return this.call.incoming.line?.native?.response;
  }

  get isKept(): boolean {
    return this.#kept !== undefined;
  }

  protected get orphans() {
    return this.#goesOn ? ("orphanedImages" as const) : ("orphanedTexts" as const);
  }

  /** A recording is processed to its end even without its client, and only then the host reports its length. */
  get #goesOn(): boolean {
    return this.target.adapter.goesOn === true;
  }

  protected get isAtWork(): boolean {
    // A check ends with its client.
    return this.#open.size > 0 && this.call.incoming.cause?.kind !== "check";
  }

  /** Aborts everything that was started upstream. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Undefined if nothing is billed. */
  get used(): Used | undefined {
    return this.#used;
  }

  /** What the adapter's requests depend on. */
  get context(): AdapterContext {
    return this.#services.context(this.target.offer.upstreamModel, this.call.receiptId);
  }

  get #services(): ProviderServices {
    const { services, name } = this.target.provider;
    if (services === undefined) throw new Error(`provider ${name} has no services`);
    return services;
  }

  /** Notes what this offer does not honour, in addition to what no offer does. Rejects a strict call (H09). */
  note(notes: readonly FieldNote[]): void {
    this.notes = boundNotes([...this.call.notes, ...notes]);
    if (this.call.incoming.strict || this.call.principal.strict) refuseNotes(this.notes);
  }

  /** Starts billable work. Nothing is started for a client that has disconnected. */
  begin(expected: Usage): OpenWork {
    if (this.call.client.disconnected) throw new ClientDisconnectedError();
    this.call.timer.to("provider");
    const work = { expected };
    this.#open.add(work);
    return work;
  }

  /** The work is done. The reported usage counts if it is plausible, otherwise the estimate. Returns the usage that counts. */
  done(work: OpenWork, reported: Usage | undefined, known: KnownUse = {}): Usage {
    const { instead = work.expected, source = "estimated", isPlausible = () => true } = known;
    const believed =
      reported !== undefined && this.#isBelievable(reported, instead, isPlausible) ? reported : undefined;
    if (this.#open.delete(work)) this.#count(believed ?? instead, believed === undefined ? source : "measured");
    return believed ?? instead;
  }

  /** A usage that costs nothing, for work that should cost something, was counted in the wrong unit or not at all (H27). */
  #isBelievable(reported: Usage, expected: Usage, isPlausible: NonNullable<KnownUse["isPlausible"]>): boolean {
    const { pricings, offer } = this.target;
    const costs = (usage: Usage): boolean => priceUsage(usage, pricings).costNanoUsd > 0;
    const isPossible = isPlausible(reported) && tokensOf(reported) <= mostTokens(expected);
    if (isPossible && (costs(reported) || !costs(expected))) return true;
    const { provider, upstreamModel } = offer;
    this.gateway.log.warn(
      { receipt: this.call.receiptId, provider, upstreamModel, reported },
      "provider reported implausible usage; billing the usage that the gateway measured",
    );
    return false;
  }

  /** The work was not done and is not billed. */
  failed(work: OpenWork): void {
    this.#open.delete(work);
  }

  #count(usage: Usage, source: UsageSource): void {
    const before = this.#used;
    const least = before === undefined || before.source === "measured" ? source : before.source;
    this.#used = { usage: sumUsage(before?.usage ?? {}, usage), source: least };
  }

  /** Sends a request. Resolves with a successful response that must be read to its end or closed; throws the error of any other. */
  async open(request: MediaRequest, { idleMs }: OpenOptions = {}): Promise<ProviderExchange> {
    const kept = this.#kept;
    if (kept === undefined && this.call.incoming.line?.native !== undefined) {
      this.prepared.push(request);
      throw new PreparedError("internal", "The request was only prepared.");
    }
    const { clock } = this.gateway;
    const send = kept === undefined ? this.gateway.send : () => new KeptExchange(kept);
    const { wholeTimeoutMs, timeoutMs } = this.target.provider;
    const limitMs = (idleMs === undefined ? wholeTimeoutMs : timeoutMs).firstByte;
    const options = {
      clock,
      send,
      signal: this.signal,
      timeoutMs: limitMs,
      mayRepeat: true,
      capture: firstRequestCapture(this.call, this),
      hidesAnswer: this.call.guards?.inForce.actsOnResponse === true,
      traceLines: traceLines(this.call, this, this.gateway),
    };
    const exchange = await openExchange(
      this.#services,
      request,
      idleMs === undefined ? options : { ...options, idleMs },
    );
    const { limitHeaders } = this.target.adapter;
    if (limitHeaders !== undefined) this.gateway.health.noteLimits(this.target, exchange.headers, limitHeaders);
    if (isSuccess(exchange)) return exchange;
    const answer = await readAnswer(exchange, this.gateway, { maxBytes: MAX_ERROR_BYTES });
    const { status, text } = answer;
    throw this.target.adapter.error(answer).withFailure({ status, ...(text && { said: text }) });
  }

  /** The same, with the response read whole. It counts against the memory of all calls (S23). */
  async ask(request: MediaRequest, maxBytes: number): Promise<MediaAnswer> {
    return this.readWhole(await this.open(request), maxBytes);
  }

  /** Reads the rest of an open response. */
  readWhole(exchange: ProviderExchange, maxBytes: number): Promise<MediaAnswer> {
    return readAnswer(exchange, this.gateway, { maxBytes, hold: (bytes) => this.#hold(bytes) });
  }

  #hold(bytes: number): void {
    this.call.memory.add(bytes);
    this.#held += bytes;
  }

  override check(nowMs: number): void {
    const { timings } = this.gateway;
    if (this.orphanedAtMs !== undefined && !this.#goesOn && nowMs - this.orphanedAtMs > timings.readOnMs) {
      this.end(new ClientDisconnectedError());
    } else super.check(nowMs);
  }

  /** Whether the requested work was done will never be known. */
  protected end(reason: GatewayError): void {
    for (const { expected } of this.#open) this.#count(expected, "partial");
    this.#open.clear();
    this.#ending.abort(reason);
  }

  /** Ends all work in progress and releases its memory. */
  close(): void {
    this.finish();
    this.end(new GatewayError("upstream_failed", "Another part of the request failed."));
    this.call.memory.release(this.#held);
    this.#held = 0;
  }
}
