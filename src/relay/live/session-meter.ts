import type { Billable } from "../../canon/billable.ts";
import { asGatewayError, GatewayError } from "../../canon/error.ts";
import { type LiveEvent, type LiveSettings, type LiveWork, TRANSCRIPTION, transcriptionOf } from "../../canon/live.ts";
import { addNote } from "../../canon/notes.ts";
import type { FieldNote, OfferTried } from "../../canon/receipt.ts";
import type { Stop } from "../../canon/stop.ts";
import { laterUsage, sumUsage, type Usage, usageBeyond } from "../../canon/usage.ts";
import type { Model, Offer } from "../../catalogue/model.ts";
import type { LiveTarget } from "../../routing/target.ts";
import type { Gateway } from "../gateway.ts";
import { ASSUMED_OUTPUT_TOKENS } from "../request/output-limit.ts";
import { findOffer } from "../settle/bill-usage.ts";
import type { HostConnection } from "./host-connection.ts";
import { tokensOfAudio } from "./live-audio.ts";
import type { LiveCaller } from "./live-caller.ts";
import { LiveContext } from "./live-context.ts";
import { type ItemEnding, LiveItem } from "./live-item.ts";
import type { AskedItem } from "./live-kind.ts";

/** Turns that may be in progress at one time, with those whose usage is awaited. */
const MAX_TURNS = 16;
/** Work besides turns. A host that leaves more of it open is not believed to do it any more. */
const MAX_WORK = 64;
/** Receipts of turns that have ended. The host may name a turn once more. */
const MAX_RECEIPTS = 16;
/** What has ended, so that a host that reports it again is not paid again. */
const MAX_CLOSED = 10_000;

/** Usage of no turn and no work that the host has named. */
const UNNAMED = "session";

type Event<Type extends LiveEvent["type"]> = Extract<LiveEvent, { type: Type }>;

/** What a session does when one of its turns changes. */
interface TurnListener {
  begun(): void;
  over(): void;
}

/** A turn that the client has asked for. */
interface TurnWish {
  /** What the client has sent. */
  readonly sent: string;
  readonly eventId?: string | undefined;
  readonly billables: readonly Billable[];
  readonly maxOutputTokens: LiveSettings["maxOutputTokens"];
}

/**
 * All that one session can be charged for. Codecs only tell what happens at the host. Each turn and each other work is an item here: it is
 * admitted like a call, and closed once by its id, with a receipt that is stored before the client sees the end (decision 0149).
 */
export class SessionMeter {
  readonly context: LiveContext;
  /** Settings in force, as far as the host has reported them. */
  settings: Omit<LiveSettings, "paths" | "extras"> = {};
  /** What these settings ask for that costs money besides tokens. */
  billables: readonly Billable[] = [];
  /** The client is gone. */
  isLeft = false;
  readonly #caller: LiveCaller;
  readonly #host: HostConnection;
  readonly #gateway: Gateway;
  readonly #listener: TurnListener;
  /** Admitted turns that the host has not begun. */
  readonly #pending: LiveItem[] = [];
  /** Turns by the host's name. */
  readonly #running = new Map<string, LiveItem>();
  /** Other work by its name. */
  readonly #work = new Map<string, LiveItem>();
  /** What was billed, by the name of the turn or the work. */
  readonly #closed = new Map<string, Usage>();
  /** Turns that have ended without usage, which some hosts report later. */
  readonly #unreported = new Map<string, { turn: LiveItem; ending: ItemEnding }>();
  readonly #receipts = new Map<string, string>();
  /** What is being admitted, of what the host does by itself. */
  #entering = 0;
  /** The session is over: whatever is admitted now ends like everything before. */
  #ending: ItemEnding | undefined;
  /** The attempts that opened the session, for the receipt of its first item. */
  #opening: readonly OfferTried[];
  /** When the user began to speak, and for how long, as far as the host says so. */
  #speech: { fromMs?: number | undefined; seconds?: number } = {};
  #notes: FieldNote[] = [];

  constructor(
    caller: LiveCaller,
    { host, tried }: { host: HostConnection; tried: readonly OfferTried[] },
    gateway: Gateway,
    listener: TurnListener,
  ) {
    this.#caller = caller;
    this.#host = host;
    this.#gateway = gateway;
    this.#listener = listener;
    this.#opening = tried;
    const { via, offer, model } = host.target;
    this.context = new LiveContext(via, offer.contextLength ?? model.contextLength);
  }

  /** How many turns are in progress. */
  get turns(): number {
    return this.#pending.length + this.#running.size;
  }

  /** How much is in progress, with work besides turns. */
  get open(): number {
    return this.turns + this.#work.size + this.#entering;
  }

  *allTurns(): Generator<LiveItem> {
    yield* this.#pending;
    yield* this.#running.values();
  }

  /** The turn that the host speaks in. */
  get current(): LiveItem | undefined {
    const id = this.#host.codec.turnId;
    return id === undefined ? undefined : this.#running.get(id);
  }

  /** What the host or the client does not get as it was. */
  note(notes: readonly FieldNote[]): void {
    for (const note of notes) addNote(this.#notes, note);
  }

  /** What an event says about the session. */
  learn(event: LiveEvent): void {
    if (event.type !== "ready" && event.type !== "settings-applied") return;
    const { paths: _paths, extras: _extras, ...settings } = event.settings;
    this.settings = { ...this.settings, ...settings };
  }

  /** Admits a turn before its host is asked for it. Throws if it is refused. */
  async ask({ sent, eventId, billables, maxOutputTokens }: TurnWish): Promise<void> {
    if (this.turns + this.#unreported.size >= MAX_TURNS) throw tooManyTurns();
    const asked = this.#asked(sent, billables, maxOutputTokens);
    this.#pending.push(await this.#admit(asked, eventId));
    this.#listener.begun();
  }

  /** The host was not asked for the turn that was admitted last. */
  withdraw(): void {
    this.#pending.pop()?.withdraw();
    this.#listener.over();
  }

  async #admit(asked: AskedItem, eventId?: string): Promise<LiveItem> {
    const opening = this.#opening;
    this.#opening = [];
    return await LiveItem.admit(asked, this.#gateway, { eventId, opening });
  }

  #asked(sent = "", more: readonly Billable[] = [], most = this.settings.maxOutputTokens): AskedItem {
    const { target } = this.#host;
    const limit = target.offer.maxOutputTokens ?? target.model.maxOutputTokens ?? ASSUMED_OUTPUT_TOKENS;
    const mostOutput = typeof most === "number" ? Math.min(most, limit) : limit;
    const { prompt } = this.context;
    return {
      caller: this.#caller,
      target,
      prompt,
      mostOutput,
      uses: [
        { ...prompt, output: mostOutput },
        { ...prompt, audioOutput: mostOutput },
      ],
      billables: more.length === 0 ? this.billables : [...this.billables, ...more],
      sent,
    };
  }

  /** Work as an item: by the model that does it, if that is known and has a price. */
  #askedWork(work: LiveWork, seconds: number, usage?: Usage, isLate?: true): AskedItem {
    const { id, what, model } = work;
    const { catalogue } = this.#gateway.snapshot;
    const found = model === undefined ? undefined : findOffer(catalogue, this.#host.target.offer.provider, model);
    const target =
      found === undefined
        ? this.#host.target
        : servedBy(this.#host.target, found.offer, catalogue.resolve(found.id).model);
    const isUnpriced = what === TRANSCRIPTION ? model !== undefined && found === undefined : !isLate;
    const tokens = tokensOfAudio(target.via, "input", seconds);
    const estimated = [{ audioInput: tokens, output: tokens }, { seconds: Math.ceil(seconds) }];
    return {
      caller: this.#caller,
      target,
      prompt: {},
      mostOutput: 0,
      uses: usage === undefined ? estimated : [usage],
      work: { id, what, seconds, isUnpriced, ...(isLate && { isLate }) },
      billables: [],
      sent: "",
    };
  }

  /** The host has begun a turn. Returns false if the client did not ask for it: `admitBegun` decides then. */
  began(id: string): boolean {
    if (this.#running.has(id)) return true;
    const asked = this.#pending.shift();
    if (asked === undefined) return false;
    this.#place(id, asked);
    return true;
  }

  #place(id: string, turn: LiveItem): void {
    turn.id = id;
    turn.heard();
    turn.notes = this.#notes.splice(0);
    this.#running.set(id, turn);
    this.#receipts.set(id, turn.receiptId);
    const [oldest] = this.#receipts.keys();
    if (this.#receipts.size > MAX_RECEIPTS && oldest !== undefined) this.#receipts.delete(oldest);
    if (this.#ending !== undefined) void this.endAll(this.#ending);
  }

  /** Admits a turn that the host has begun by itself. Throws if it is refused. */
  async admitBegun(id: string): Promise<void> {
    const turn = await this.#entered(this.#admit(this.#asked()));
    this.#listener.begun();
    this.#place(id, turn);
  }

  /** Records a turn that the host began and the gateway refused, because it costs something nevertheless. */
  async recordRefused(id: string, refusal: GatewayError): Promise<void> {
    this.#place(id, await this.#entered(LiveItem.admit(this.#asked(), this.#gateway, { refusal })));
  }

  /** Admits other work that the host has begun, or has done. If it is refused, it is recorded with its refusal. */
  async admitWork(work: LiveWork & { usage?: Usage }): Promise<LiveItem> {
    const item = await this.#entered(this.#admitOrRecord(this.#askedWork(work, this.#takeSpeech(), work.usage)));
    item.id = work.id;
    this.#work.set(work.id, item);
    const [oldest] = this.#work.keys();
    if (this.#work.size > MAX_WORK && oldest !== undefined) void this.#closeWork(oldest, NOT_REPORTED);
    if (this.#ending !== undefined) void this.endAll(this.#ending);
    return item;
  }

  async #entered(admission: Promise<LiveItem>): Promise<LiveItem> {
    this.#entering++;
    try {
      return await admission;
    } finally {
      this.#entering--;
    }
  }

  async #admitOrRecord(asked: AskedItem): Promise<LiveItem> {
    try {
      return await this.#admit(asked);
    } catch (thrown) {
      return await LiveItem.admit(asked, this.#gateway, { refusal: asGatewayError(thrown) });
    }
  }

  /** How much the user has said since the last item. The silence before is not part of it. */
  #takeSpeech(): number {
    const heard = this.context.takeSpeech();
    const { seconds = heard } = this.#speech;
    this.#speech = {};
    return Math.min(heard, seconds);
  }

  receiptOf(id: string): string | undefined {
    return this.#receipts.get(id);
  }

  /** Follows an event that can change no turn but the one in progress. */
  follow(event: LiveEvent): void {
    const turn = this.current;
    switch (event.type) {
      case "text-delta":
      case "transcript-delta":
      case "reasoning-delta":
        turn?.sawText(event.text);
        break;
      case "audio-delta":
        turn?.sawAudio(event.audio.length, event.format);
        break;
      case "tool-call":
        turn?.sawText(event.name + event.arguments);
        break;
      case "input-transcript-delta":
        this.#work.get(transcriptionOf(event.itemId))?.sawText(event.text);
        break;
      case "input-transcript":
        this.context.addText(event.text.length);
        break;
      case "input-cleared":
        this.#takeSpeech();
        break;
      case "speech-started":
        this.#speech = { fromMs: event.atMs };
        break;
      case "speech-stopped":
        if (event.atMs !== undefined && this.#speech.fromMs !== undefined)
          this.#speech.seconds = (event.atMs - this.#speech.fromMs) / 1000;
        break;
      default:
        turn?.heard();
    }
  }

  /** Whether it has ended before. */
  hasClosed(id: string): boolean {
    return this.#closed.has(id);
  }

  hasWork(id: string): boolean {
    return this.#work.has(id);
  }

  /** A turn is over. Returns a promise if its receipt is written now; otherwise its usage is awaited. */
  ended({ id, status, reason, error, usage }: Event<"turn-ended">): Promise<void> | undefined {
    const turn = this.#running.get(id);
    if (turn === undefined) return undefined;
    this.#running.delete(id);
    this.#close(id, {});
    const failed = status === "failed" ? this.#host.target.provider.redactError(error ?? failedTurn()) : undefined;
    const ending: ItemEnding = {
      outcome: this.isLeft ? "client_gone" : (failed?.kind ?? "ok"),
      whole: status === "completed" || status === "incomplete",
      usage,
      stop: stopOf(status, reason),
      error: failed,
    };
    if (
      (usage ?? turn.reported) !== undefined ||
      failed !== undefined ||
      this.isLeft ||
      !this.#host.isOpen ||
      this.#gateway.closing
    )
      return this.#settle(turn, ending);
    this.#unreported.set(id, { turn, ending });
    const { clock, timings } = this.#gateway;
    clock.after(timings.afterFinishMs, () => void this.#settleUnreported(id), { background: true });
    this.#listener.over();
    return undefined;
  }

  async #settle(turn: LiveItem, ending: ItemEnding): Promise<void> {
    await this.#write(turn, ending);
    this.#listener.over();
  }

  async #settleUnreported(id: string, usage?: Usage): Promise<void> {
    const found = this.#unreported.get(id);
    if (found === undefined) return;
    this.#unreported.delete(id);
    await this.#write(found.turn, usage === undefined ? found.ending : { ...found.ending, usage });
  }

  /** Work besides turns is over. Its receipt is written now. */
  workEnded({ id, usage, error }: Event<"work-ended">): Promise<void> | undefined {
    const failed = error && this.#host.target.provider.redactError(error);
    const outcome = this.isLeft ? "client_gone" : (failed?.kind ?? "ok");
    return this.#closeWork(id, { outcome, whole: true, usage, error: failed });
  }

  async #closeWork(id: string, ending: ItemEnding): Promise<void> {
    const item = this.#work.get(id);
    if (item === undefined) return;
    this.#work.delete(id);
    await this.#settle(item, ending);
  }

  /** Closes work of which the host has said nothing for this long. */
  expire(nowMs: number, limitMs: number): void {
    for (const [id, { heardAtMs }] of this.#work)
      if (nowMs - heardAtMs >= limitMs) void this.#closeWork(id, NOT_REPORTED);
  }

  /** What a turn or work used in all. After its receipt, only what that lacks is billed. */
  async used({ id = UNNAMED, usage }: { id?: string; usage: Usage }): Promise<void> {
    const open = this.#running.get(id) ?? this.#work.get(id);
    if (open !== undefined) {
      open.reported = laterUsage(open.reported, usage);
      return;
    }
    if (this.#unreported.has(id)) {
      await this.#settleUnreported(id, usage);
      return;
    }
    const billed = this.#closed.get(id) ?? {};
    const rest = usageBeyond(usage, billed);
    if (Object.keys(rest).length === 0) return;
    this.#close(id, sumUsage(billed, rest));
    const asked = this.#askedWork({ id, what: "late usage" }, 0, rest, true);
    try {
      const item = await this.#admitOrRecord(asked);
      await item.settle({ outcome: "ok", whole: true, usage: rest });
    } catch (err) {
      this.#gateway.log.error({ err: asGatewayError(err) }, "late usage of a session was not billed");
    }
  }

  #close(id: string, usage: Usage): void {
    this.#closed.set(id, usage);
    const [oldest] = this.#closed.keys();
    if (this.#closed.size > MAX_CLOSED && oldest !== undefined) this.#closed.delete(oldest);
  }

  /** An error of the host. A turn that was asked for by the event at fault has ended before it began. */
  failed({ error, eventId }: Event<"error">): Promise<void> | undefined {
    const index = this.#pending.findIndex((turn) => eventId === undefined || turn.eventId === eventId);
    const [turn] = index < 0 ? [] : this.#pending.splice(index, 1);
    if (turn === undefined) return undefined;
    const redacted = this.#host.target.provider.redactError(error);
    return this.#settle(turn, { outcome: redacted.kind, whole: false, usage: undefined, error: redacted });
  }

  async #write(item: LiveItem, ending: ItemEnding): Promise<void> {
    if (ending.usage !== undefined && item.work === undefined) this.context.settle(ending.usage);
    try {
      const settled = item.settle(ending);
      if (item.id !== undefined) this.#close(item.id, item.billed);
      await settled;
    } catch (err) {
      this.#gateway.log.error({ err, receipt: item.receiptId }, "receipt of a live session was not written");
    }
  }

  /** Ends everything that runs. */
  async endAll(ending: ItemEnding): Promise<void> {
    this.#ending = ending;
    const open = [...this.allTurns(), ...this.#work.values()];
    this.#pending.length = 0;
    this.#running.clear();
    this.#work.clear();
    const writing = open.map((item) => this.#write(item, ending));
    for (const id of [...this.#unreported.keys()]) writing.push(this.#settleUnreported(id));
    await Promise.all(writing);
  }
}

/** The host did not say how work ended. It may have done it. */
const NOT_REPORTED: ItemEnding = { outcome: "ok", whole: false, usage: undefined };

/** A target of the same host, where another model does the work. */
function servedBy(target: LiveTarget, offer: Offer, model: Model): LiveTarget {
  const { pricings, priceMultiples, toolPrices } = offer;
  return { ...target, model, offer, pricings, priceMultiples, toolPrices };
}

function stopOf(status: string, reason: string | undefined): Stop {
  if (reason === "max_output_tokens") return { unified: "length", raw: reason };
  if (reason === "content_filter") return { unified: "filter", raw: reason };
  return status === "completed" ? { unified: "stop", raw: status } : { unified: "other", raw: reason ?? status };
}

const tooManyTurns = () =>
  new GatewayError("rate_limited", `At most ${MAX_TURNS} responses can be in progress on a connection.`, {
    retryAfterSeconds: 1,
  });

const failedTurn = () => new GatewayError("upstream_failed", "The provider could not finish the response.");
