import { REQUEST_PREFIX, timePrefix } from "../../base/timed-id.ts";
import { billableName } from "../../canon/billable.ts";
import { type ErrorKind, GatewayError } from "../../canon/error.ts";
import { type LiveAudioFormat, TRANSCRIPTION } from "../../canon/live.ts";
import { boundNotes } from "../../canon/notes.ts";
import type { FieldNote, OfferTried } from "../../canon/receipt.ts";
import type { Stop } from "../../canon/stop.ts";
import {
  type CorrectedUsage,
  completionTokens,
  laterUsage,
  MAX_UNKNOWN_COUNTERS,
  type Usage,
  type UsageSource,
} from "../../canon/usage.ts";
import { priceOf } from "../../catalogue/price-table.ts";
import { tokensOfCharacters } from "../../dialects/reading/estimate-tokens.ts";
import type { LiveTarget } from "../../routing/target.ts";
import { observeBreak } from "../attempt/observe-attempt.ts";
import type { AttemptRecord, Call, IncomingRequest } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { admitCall } from "../request/admit-call.ts";
import { unpricedTools } from "../request/check-billing.ts";
import { withRequestedTools } from "../request/with-requested-tools.ts";
import { closeCall } from "../settle/close-call.ts";
import { correctUsage } from "../settle/correct-usage.ts";
import { secondsOf, tokensOfAudio } from "./live-audio.ts";
import { laneOf } from "./live-caller.ts";
import { type AskedItem, type AskedWork, liveKind, verbOf } from "./live-kind.ts";
import { refuseGuarded } from "./open-live.ts";

/** How an item ended. */
export interface ItemEnding {
  /** `ok`, `client_gone`, or the kind of the error. */
  outcome: "ok" | "client_gone" | ErrorKind;
  /** The host ended it itself, and has reported everything. */
  whole: boolean;
  usage: Usage | undefined;
  stop?: Stop | undefined;
  error?: GatewayError | undefined;
}

/** The assumed rate of a host of which nothing was heard, in tokens per second: as for any stream that was ended early (H26). */
const UNHEARD_RATE = 250;

/** What a session costs that is charged by the second, whatever happens in it. */
export const TIME = "session time";

/** What an item needs to know of its session. */
interface ItemOptions {
  /** The client's id of the event that began it. */
  eventId?: string | undefined;
  /** The attempts that opened the session, for the receipt of its first item. */
  opening?: readonly OfferTried[];
  /** The host began it, and its admission was refused: its cost is recorded with this reason. */
  refusal?: GatewayError;
}

type Admitted = Omit<Awaited<ReturnType<typeof admitCall>>["admitted"], "attempt">;

interface Billed {
  usage: Usage;
  source: UsageSource;
  corrected?: CorrectedUsage | undefined;
}

/** A turn of a live session, or other work that its host bills: a call with its own admission and receipt. */
export class LiveItem implements AttemptRecord {
  readonly target: LiveTarget;
  readonly lane: { readonly name: "native" | "translated" };
  readonly startedAtMs: number;
  readonly terms: readonly string[] = [];
  readonly eventId: string | undefined;
  readonly refusal: GatewayError | undefined;
  notes: FieldNote[] = [];
  /** Undefined for a turn. */
  readonly work: AskedWork | undefined;
  /** What the host has reported before the end. */
  reported: Usage | undefined;
  /** It is over, and its usage is awaited. */
  ending: ItemEnding | undefined;
  /** What is in the receipt. */
  billed: Usage = {};
  /** The host's name of it; undefined until the host has begun. */
  id: string | undefined;
  /** When the host was last heard. */
  heardAtMs: number;
  readonly #asked: AskedItem;
  readonly #gateway: Gateway;
  readonly #call: Admitted & Pick<Call, "attempt">;
  #firstContentAtMs: number | undefined;
  #characters = 0;
  #audioSeconds = 0;
  #settled: Promise<void> | undefined;

  private constructor(asked: AskedItem, gateway: Gateway, call: Admitted, options: ItemOptions) {
    this.#asked = asked;
    this.#gateway = gateway;
    this.target = asked.target;
    this.work = asked.work;
    this.lane = { name: laneOf(asked.caller, asked.target) };
    this.eventId = options.eventId;
    this.refusal = options.refusal;
    this.startedAtMs = gateway.clock.nowMs();
    this.heardAtMs = this.startedAtMs;
    this.#call = { ...call, attempt: this };
    gateway.calls.replace(call.client, { ...this.#call, endsWithSession: true });
    this.#call.offersTried.push(...(options.opening ?? []));
    call.timer.to("provider");
  }

  /** The one way in. Throws if the item is refused; then it can be admitted once more, with that refusal, to be recorded. */
  static async admit(asked: AskedItem, gateway: Gateway, options: ItemOptions = {}): Promise<LiveItem> {
    const { incoming, principal } = asked.caller;
    const isRefused = options.refusal !== undefined;
    if (!isRefused) refuseGuarded(asked.caller, gateway);
    const sessionWork = isRefused ? "refused" : asked.work?.isLate ? "late" : asked.work && "beside";
    const { url, headers } = incoming.request;
    const request: IncomingRequest = {
      ...incoming,
      // Each call listens for the end of its own request.
      request: new Request(url, { headers }),
      requestId: REQUEST_PREFIX + timePrefix(gateway.clock.nowMs()) + gateway.random.id().slice(-12),
      principal: principal(isRefused),
      credential: undefined,
      ...(sessionWork === undefined ? {} : { sessionWork }),
    };
    const { admitted } = await admitCall(liveKind(isRefused ? { ...asked, billables: [] } : asked), request, gateway);
    return new LiveItem(asked, gateway, admitted, options);
  }

  get receiptId(): string {
    return this.#call.receiptId;
  }

  get hasContent(): boolean {
    return this.#firstContentAtMs !== undefined;
  }

  get isSettled(): boolean {
    return this.#settled !== undefined;
  }

  /** The host has sent something of it. */
  heard(): void {
    this.heardAtMs = this.#gateway.clock.nowMs();
  }

  /** Words of the response, or a call of a tool. They are what is captured of it, because sound is not text. */
  sawText(text: string): void {
    this.#saw();
    this.#characters += text.length;
    if (this.refusal === undefined) this.#call.capture?.answer.add(text);
  }

  sawAudio(bytes: number, format: LiveAudioFormat): void {
    this.#saw();
    this.#audioSeconds += secondsOf(bytes, format);
  }

  #saw(): void {
    this.heard();
    if (this.#firstContentAtMs !== undefined) return;
    this.#firstContentAtMs = this.heardAtMs;
    this.#call.timer.to("stream");
  }

  /** Nothing was asked of the host. There is no receipt, unless one was announced in the ledger. */
  withdraw(): void {
    if (this.#gateway.intents) {
      void this.settle({ outcome: "ok", whole: true, usage: undefined });
      return;
    }
    this.#settled = Promise.resolve();
    const { admission, memory, client } = this.#call;
    this.#gateway.runningCalls--;
    this.#gateway.calls.remove(client);
    admission.release({ costNanoUsd: 0, tokens: 0 });
    memory.release();
    client.release();
  }

  /** Writes the receipt. Resolves when it is committed. Only the first ending counts. */
  settle(ending: ItemEnding): Promise<void> {
    this.#settled ??= this.#settle(ending);
    return this.#settled;
  }

  #settle(ending: ItemEnding): Promise<void> {
    const { target, lane } = this;
    const { caller, billables } = this.#asked;
    const call = this.#call;
    const { offer, pricings, priceMultiples, toolPrices } = target;
    const reported = ending.usage === undefined ? this.reported : laterUsage(this.reported, ending.usage);
    const billed = this.work === undefined ? this.#billedTurn(ending, reported) : this.#billedWork(ending, reported);
    const { source, corrected } = billed;
    const usage = withRequestedTools({ billables, attempt: this, brokeOff: !ending.whole }, billed.usage);
    this.billed = usage;
    this.notes = boundNotes([...caller.resolved.notes, ...this.notes]);
    this.#observe(ending);
    call.capture?.answered();
    return closeCall(call, this.#gateway, {
      verb: verbOf(this.#asked),
      clientDialect: caller.dialect,
      upstreamDialect: target.via,
      lane: lane.name,
      outcome: this.refusal?.kind ?? ending.outcome,
      offer,
      usage: this.work?.isUnpriced ? marked(usage, this.work.what) : usage,
      source,
      corrected,
      pricings,
      priceMultiples,
      toolPrices,
      billables,
      unpriced: this.id === undefined ? [] : unpricedTools(billables, offer, lane.name === "native"),
      stop: ending.stop,
      firstContentAtMs: this.#firstContentAtMs,
      error: this.refusal ?? ending.error,
    });
  }

  #observe({ outcome, error }: ItemEnding): void {
    const { target, startedAtMs } = this;
    const { offersTried, trace } = this.#call;
    const nowMs = this.#gateway.clock.nowMs();
    const isFailure = error !== undefined && outcome !== "client_gone";
    const tried: OfferTried = {
      provider: target.offer.provider,
      outcome: outcome === "client_gone" ? "abandoned" : isFailure ? "failed" : "answered",
      ms: Math.round((this.#firstContentAtMs ?? nowMs) - startedAtMs),
    };
    if (target.credential !== "") tried.credential = target.credential;
    if (isFailure) tried.reason = error.kind;
    if (isFailure && error.failure !== undefined) tried.failure = error.failure;
    // The opening has the same offer, which answered.
    if (offersTried.at(-1)?.outcome === "answered") offersTried.pop();
    offersTried.push(tried);
    trace?.attemptEnded(this, nowMs);
    // A host that cannot write down a noise is not ill.
    if (isFailure && this.work === undefined)
      observeBreak(this.#gateway, { target, msSoFar: tried.ms, close: () => {}, ...record(this) }, error);
  }

  /** The host's figures, as far as they are possible; otherwise what was seen (H26, H27). */
  #billedTurn({ whole, stop, outcome }: ItemEnding, reported: Usage | undefined): Billed {
    const { prompt, mostOutput, target } = this.#asked;
    // The host has not begun it. If the client left after it was asked to, it may have.
    if (this.id === undefined && outcome !== "client_gone") return { usage: reported ?? {}, source: "measured" };
    const { contextLength = Number.MAX_SAFE_INTEGER } = target.offer;
    if (reported?.seconds !== undefined) return { usage: reported, source: "measured" };
    if (reported === undefined) {
      // Whatever it had generated when it was ended was heard, unless nothing was heard yet.
      const isUnheard = !this.hasContent && !whole;
      const unheard = isUnheard ? Math.min(mostOutput, Math.ceil(this.#waitedSeconds * UNHEARD_RATE)) : 0;
      const usage = { ...prompt, output: tokensOfCharacters(this.#characters) + unheard, ...this.#audioOutput };
      return { usage, source: whole ? "estimated" : "partial" };
    }
    const { usage, reasons } = correctUsage(reported, {
      whole: whole && outcome === "ok",
      characters: this.#characters + this.#audioSeconds,
      stop,
      estimatePrompt: () => ({ ...prompt }),
      bounds: { prompt: contextLength, completion: Math.max(mostOutput, completionTokens(this.#seen)) },
    });
    const corrected = reasons.length === 0 ? undefined : { reported, reasons };
    if (corrected !== undefined) {
      const { provider, upstreamModel } = target.offer;
      const facts = { receipt: this.receiptId, provider, upstreamModel, ...corrected };
      this.#gateway.log.warn(facts, "provider reported implausible usage; billing the corrected usage");
    }
    const source: UsageSource = corrected !== undefined ? "estimated" : "measured";
    return { usage, source, corrected };
  }

  /** Hosts report what work costs when it is done. What they do not report is billed by its length (H59). */
  #billedWork({ whole, error }: ItemEnding, reported: Usage | undefined): Billed {
    if (reported !== undefined) return { usage: reported, source: "measured" };
    // The host says itself that it has not done it.
    if (whole && error !== undefined) return { usage: {}, source: "measured" };
    const { what, seconds: spoken = 0 } = this.work ?? {};
    const seconds = Math.ceil(what === TIME ? this.#waitedSeconds : spoken);
    const audioInput = tokensOfAudio(this.target.via, "input", seconds);
    const isBySeconds = priceOf(this.target.pricings, "seconds").state !== "unknown";
    const usage = isBySeconds ? { seconds } : { audioInput, output: tokensOfCharacters(this.#characters) };
    return { usage, source: whole ? "estimated" : "partial" };
  }

  get #waitedSeconds(): number {
    return (this.#gateway.clock.nowMs() - this.startedAtMs) / 1000;
  }

  get #audioOutput(): Pick<Usage, "audioOutput"> {
    if (this.#audioSeconds === 0) return {};
    return { audioOutput: tokensOfAudio(this.target.via, "output", this.#audioSeconds) };
  }

  get #seen(): Usage {
    return { output: tokensOfCharacters(this.#characters), ...this.#audioOutput };
  }
}

/** Names what has no price of its own. */
const marked = (usage: Usage, what: string): Usage => ({
  ...usage,
  unknown: [...(usage.unknown ?? []), counterOf(what)].slice(0, MAX_UNKNOWN_COUNTERS),
});

const counterOf = (what: string): string => (what === TRANSCRIPTION ? "input_transcription_usage" : billableName(what));

const record = ({ lane, notes, terms }: LiveItem) => ({ lane, notes, terms });

/** The host was silent for too long. */
export const hostSilent = (limitMs: number): GatewayError =>
  new GatewayError("upstream_timeout", `The provider sent nothing for ${limitMs} ms.`);
