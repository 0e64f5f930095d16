import { GatewayError } from "../../canon/error.ts";
import { boundNotes } from "../../canon/notes.ts";
import type { FieldNote } from "../../canon/receipt.ts";
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
import { type Call, ClientDisconnectedError } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { firstRequestCapture } from "../settle/capture-call.ts";
import { traceLines } from "../settle/trace-call.ts";

const LANE = { name: "translated" } as const;

/** Bodies of failed answers are read up to here: only their error object matters. */
const MAX_ERROR_BYTES = 256 * 1024;

const tokensOf = (usage: Usage): number => promptTokens(usage) + completionTokens(usage);

/** An estimate counts four characters to a token, and none of what a host adds of its own: it is never this far off. */
const mostTokens = (expected: Usage): number =>
  tokensOf(expected) === 0 ? Number.POSITIVE_INFINITY : 16 * tokensOf(expected) + 10_000;

/** What a provider has done that it bills. */
interface Used {
  usage: Usage;
  source: UsageSource;
}

/** Something that the provider was asked for and will bill, from the request until its usage is known. */
interface OpenWork {
  readonly expected: Usage;
}

/** What is known here of work that was done. */
interface KnownUse {
  /** What is billed where the provider says nothing, or what cannot be true; what was expected where absent. */
  instead?: Usage;
  source?: UsageSource;
  /** Whether a usage can be true that the provider reports. */
  isPlausible?: (reported: Usage) => boolean;
}

/** How the exchange with a provider goes. */
interface OpenOptions {
  /** The body is passed on as it comes, and each of its parts may take this long. */
  idleMs?: number;
}

type WatchedCall = Pick<
  Call,
  "client" | "startedAtMs" | "timer" | "routing" | "principal" | "receiptId" | "memory" | "trace"
> & {
  incoming: { strict: boolean };
  capture?: Call["capture"];
  notes: readonly FieldNote[];
};

/** One try of one offer for a service: one upstream request, or several at once. */
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

  constructor(call: WatchedCall, gateway: Gateway, target: ServiceTarget<Name>) {
    super(call, gateway, target);
    this.notes = [...call.notes];
    this.watch();
  }

  protected get orphans() {
    return this.#goesOn ? ("orphanedImages" as const) : ("orphanedTexts" as const);
  }

  /** A recording is heard to its end whether or not its client waits, and only then its host says how long it was. */
  get #goesOn(): boolean {
    return this.target.adapter.goesOn === true;
  }

  protected get isAtWork(): boolean {
    return this.#open.size > 0;
  }

  /** Aborts everything that was started upstream. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Undefined where nothing is billed. */
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

  /** What this offer does not honour, beside what none does; a strict call is refused for it (H09). */
  note(notes: readonly FieldNote[]): void {
    this.notes = boundNotes([...this.call.notes, ...notes]);
    if (this.call.incoming.strict || this.call.principal.strict) refuseNotes(this.notes);
  }

  /** Something is about to be asked for that will be billed. Nothing is started for a client that disconnected. */
  begin(expected: Usage): OpenWork {
    if (this.call.client.disconnected) throw new ClientDisconnectedError();
    this.call.timer.to("provider");
    const work = { expected };
    this.#open.add(work);
    return work;
  }

  /** It was done: what the provider says of its usage counts where that can be true, else what was expected. Gives what counts. */
  done(work: OpenWork, reported: Usage | undefined, known: KnownUse = {}): Usage {
    const { instead = work.expected, source = "estimated", isPlausible = () => true } = known;
    const believed =
      reported !== undefined && this.#isBelievable(reported, instead, isPlausible) ? reported : undefined;
    if (this.#open.delete(work)) this.#count(believed ?? instead, believed === undefined ? source : "measured");
    return believed ?? instead;
  }

  /** What costs nothing where something was expected to cost was counted in another unit than it is paid by, or not at all (H27). */
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

  /** It was not done, and is not billed. */
  failed(work: OpenWork): void {
    this.#open.delete(work);
  }

  #count(usage: Usage, source: UsageSource): void {
    const before = this.#used;
    const least = before === undefined || before.source === "measured" ? source : before.source;
    this.#used = { usage: sumUsage(before?.usage ?? {}, usage), source: least };
  }

  /** Sends a request. Resolves with the head of a successful answer, which is to be read to its end or closed; throws what any other means. */
  async open(request: MediaRequest, { idleMs }: OpenOptions = {}): Promise<ProviderExchange> {
    const { clock, send } = this.gateway;
    const { wholeTimeoutMs, timeoutMs } = this.target.provider;
    const limitMs = (idleMs === undefined ? wholeTimeoutMs : timeoutMs).firstByte;
    const options = {
      clock,
      send,
      signal: this.signal,
      timeoutMs: limitMs,
      mayRepeat: true,
      capture: firstRequestCapture(this.call, this),
      traceLines: traceLines(this.call, this, this.gateway),
    };
    const exchange = await openExchange(
      this.#services,
      request,
      idleMs === undefined ? options : { ...options, idleMs },
    );
    const { limitHeaders } = this.target.adapter;
    if (limitHeaders !== undefined) this.gateway.health.heard(this.target, exchange.headers, limitHeaders);
    if (isSuccess(exchange)) return exchange;
    const answer = await readAnswer(exchange, this.gateway, { maxBytes: MAX_ERROR_BYTES });
    const { status, text } = answer;
    throw this.target.adapter.error(answer).withFailure({ status, ...(text && { said: text }) });
  }

  /** The same, with the answer read whole. It counts against the memory of all calls (S23). */
  async ask(request: MediaRequest, maxBytes: number): Promise<MediaAnswer> {
    return this.readWhole(await this.open(request), maxBytes);
  }

  /** The whole of an answer that was opened. */
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

  /** Whether what was asked for has been done will never be known. */
  protected end(reason: GatewayError): void {
    for (const { expected } of this.#open) this.#count(expected, "partial");
    this.#open.clear();
    this.#ending.abort(reason);
  }

  /** Ends what is still going on; nothing is kept of what was read. */
  close(): void {
    this.finish();
    this.end(new GatewayError("upstream_failed", "Another part of the request failed."));
    this.call.memory.release(this.#held);
    this.#held = 0;
  }
}
