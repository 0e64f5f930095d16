import type { Billable } from "../../canon/billable.ts";
import { asGatewayError, GatewayError } from "../../canon/error.ts";
import { type LiveEvent, type LiveSettings, type LiveWork, TRANSCRIPTION } from "../../canon/live.ts";
import { addNote } from "../../canon/notes.ts";
import type { FieldNote, OfferTried } from "../../canon/receipt.ts";
import type { Stop } from "../../canon/stop.ts";
import { laterUsage, sumUsage, type Usage, usageBeyond } from "../../canon/usage.ts";
import type { Model, Offer } from "../../catalogue/model.ts";
import { priceOf } from "../../catalogue/price-table.ts";
import type { LiveTarget } from "../../routing/target.ts";
import type { Gateway } from "../gateway.ts";
import { ASSUMED_OUTPUT_TOKENS } from "../request/output-limit.ts";
import { findOffer } from "../settle/bill-usage.ts";
import type { HostConnection } from "./host-connection.ts";
import { tokensOfAudio } from "./live-audio.ts";
import type { LiveCaller } from "./live-caller.ts";
import { LiveContext } from "./live-context.ts";
import { type ItemEnding, LiveItem, TIME } from "./live-item.ts";
import type { AskedItem } from "./live-kind.ts";

/** Turns that may be in progress at one time. */
const MAX_TURNS = 16;
/** Items that a host may have open. Of one that leaves more behind, the oldest is closed without a report. */
const MAX_OPEN = 64;
/** Receipts of turns that have ended. The host may name a turn once more. */
const MAX_RECEIPTS = 16;
/** What has ended, so that a host that reports it again is not paid again. */
const MAX_CLOSED = 10_000;

/** A session that costs by the second is admitted and billed by the minute. */
const MINUTE_MS = 60_000;

/** Usage of no turn and no work that the host has named. */
const UNNAMED = "session";

type Event<Type extends LiveEvent["type"]> = Extract<LiveEvent, { type: Type }>;

type BegunWork = LiveWork & { usage?: Usage };
/** Work that was not seen to begin begins with its end. */
type Opened = Event<"turn-began"> | Event<"work-began"> | Event<"work-ended">;
type Closed = Event<"turn-ended"> | Event<"work-ended">;

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
  /** Turns and other work, by the host's name. */
  readonly #open = new Map<string, LiveItem>();
  /** The time of a session that costs by the second, and when the item for the next minute is due. */
  #minute: LiveItem | undefined;
  #nextMinuteMs = 0;
  /** What was billed, by the name of the item, and by which target's prices. */
  readonly #closed = new Map<string, { usage: Usage; target: LiveTarget }>();
  readonly #receipts = new Map<string, string>();
  /** What the host has begun by itself, and is being admitted. */
  #entering = 0;
  /** The session is over: whatever is admitted now ends like everything before. */
  #ending: ItemEnding | undefined;
  /** When the user began to speak, and for how long, as far as the host says so. */
  #speech: { fromMs?: number | undefined; seconds?: number } = {};
  /** The attempts that opened the session, for the receipt of its first item. */
  #opening: readonly OfferTried[];
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

  /** How much is in progress. */
  get open(): number {
    const running = [...this.#open.values()].filter(({ ending }) => ending === undefined);
    return this.#pending.length + running.length + this.#entering;
  }

  get turns(): readonly LiveItem[] {
    const begun = [...this.#open.values()].filter(({ work, ending }) => work === undefined && ending === undefined);
    return [...this.#pending, ...begun];
  }

  /** The turn that the host speaks in. */
  get current(): LiveItem | undefined {
    const id = this.#host.codec.turnId;
    return id === undefined ? undefined : this.#open.get(id);
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
    if (this.#pending.length + this.#open.size >= MAX_OPEN || this.turns.length >= MAX_TURNS) throw tooManyTurns();
    this.#pending.push(await this.#admit(this.#askedTurn(sent, billables, maxOutputTokens), eventId));
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

  /** What the host does by itself costs something even if it is refused, which is then recorded with the refusal. */
  async #admitOrRecord(asked: AskedItem, refused?: GatewayError): Promise<LiveItem> {
    let refusal = refused;
    this.#entering++;
    try {
      if (refusal === undefined) return await this.#admit(asked);
    } catch (thrown) {
      refusal = asGatewayError(thrown);
    } finally {
      this.#entering--;
    }
    return await LiveItem.admit(asked, this.#gateway, { refusal });
  }

  #askedTurn(sent = "", more: readonly Billable[] = [], most = this.settings.maxOutputTokens): AskedItem {
    const { target } = this.#host;
    const limit = target.offer.maxOutputTokens ?? target.model.maxOutputTokens ?? ASSUMED_OUTPUT_TOKENS;
    const mostOutput = typeof most === "number" ? Math.min(most, limit) : limit;
    const { prompt } = this.context;
    const uses = (["output", "audioOutput"] as const).map((kind) => ({ ...prompt, [kind]: mostOutput }));
    const billables = more.length === 0 ? this.billables : [...this.billables, ...more];
    return { caller: this.#caller, target, prompt, mostOutput, uses, billables, sent };
  }

  /** By the model that does the work, if that is known and has a price. `usage`: what it has used already. `late`: by whose prices. */
  #askedWork({ id, what, model, usage }: BegunWork, seconds: number, late?: LiveTarget): AskedItem {
    const { target } = this.#host;
    const { catalogue } = this.#gateway.snapshot;
    const found = model === undefined ? undefined : findOffer(catalogue, target.offer.provider, model);
    const isUnpriced =
      what === TRANSCRIPTION ? model !== undefined && found === undefined : late === undefined && what !== TIME;
    const tokens = tokensOfAudio(target.via, "input", seconds);
    return {
      caller: this.#caller,
      target: late ?? (found === undefined ? target : servedBy(target, found.offer, catalogue.resolve(found.id).model)),
      prompt: {},
      mostOutput: 0,
      uses: usage === undefined ? [{ audioInput: tokens, output: tokens }, { seconds: Math.ceil(seconds) }] : [usage],
      work: { id, what, seconds, isUnpriced, ...(late && { isLate: true }) },
      billables: [],
      sent: "",
    };
  }

  /** How much the user has said since the last item. The silence before is not part of it. */
  #takeSpeech(): number {
    const heard = this.context.takeSpeech();
    const { seconds = heard } = this.#speech;
    this.#speech = {};
    return Math.min(heard, seconds);
  }

  /**
   * The host has begun a turn or other work. Unless the client has asked for it, it is admitted now: the promise resolves with the
   * refusal, if there is one. `refused`: it is refused in any case.
   */
  opened(begun: Opened, refused?: GatewayError): Promise<GatewayError | undefined> | undefined {
    const { id } = begun;
    if (this.#open.has(id)) return undefined;
    if (begun.type !== "turn-began") return this.#openedItself(id, this.#askedWork(begun, this.#takeSpeech()));
    const asked = this.#pending.shift();
    if (asked === undefined) return this.#openedItself(id, this.#askedTurn(), refused);
    this.#place(id, asked);
    return undefined;
  }

  async #openedItself(id: string, asked: AskedItem, refused?: GatewayError): Promise<GatewayError | undefined> {
    const item = await this.#admitOrRecord(asked, refused);
    if (item.work === undefined && item.refusal === undefined) this.#listener.begun();
    this.#place(id, item);
    return item.refusal;
  }

  #place(id: string, item: LiveItem): void {
    item.id = id;
    item.heard();
    this.#open.set(id, item);
    const [oldest] = this.#open.keys();
    if (this.#open.size > MAX_OPEN && oldest !== undefined) void this.#close(oldest, NOT_REPORTED);
    if (item.work === undefined) {
      item.notes = this.#notes.splice(0);
      this.#receipts.set(id, item.receiptId);
      forgetOldest(this.#receipts, MAX_RECEIPTS);
    }
    if (this.#ending !== undefined) void this.endAll(this.#ending);
  }

  receiptOf(id: string): string | undefined {
    return this.#receipts.get(id);
  }

  /** Follows an event that can change no item but the turn in progress. */
  follow(event: LiveEvent): void {
    const turn = this.current;
    turn?.heard();
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
        this.#open.get(event.itemId)?.sawText(event.text);
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
    }
  }

  /** Whether an event tells of an item that has ended before. */
  repeats(event: LiveEvent): event is Opened | Closed {
    return ITEM_EVENTS.has(event.type) && this.#closed.has((event as Opened).id);
  }

  /** A turn or other work is over. Returns a promise if its receipt is written now; otherwise its usage is awaited. */
  closed(event: Closed): Promise<void> | undefined {
    const { id, error, usage } = event;
    const item = this.#open.get(id);
    if (item === undefined || (item.ending !== undefined && usage === undefined)) return undefined;
    const isTurn = event.type === "turn-ended";
    const isFailed = isTurn ? event.status === "failed" : error !== undefined;
    const failed = isFailed ? this.#host.target.provider.redactError(error ?? failedTurn()) : undefined;
    const ending: ItemEnding = {
      outcome: this.isLeft ? "client_gone" : (failed?.kind ?? "ok"),
      whole: !isTurn || event.status === "completed" || event.status === "incomplete",
      usage,
      stop: isTurn ? stopOf(event.status, event.reason) : undefined,
      error: failed,
    };
    const isReported = !isTurn || (usage ?? item.reported) !== undefined || failed !== undefined;
    if (isReported || this.isLeft || !this.#host.isOpen || this.#gateway.closing) return this.#close(id, ending);
    // Some hosts report it later.
    item.ending = ending;
    const { clock, timings } = this.#gateway;
    clock.after(timings.afterFinishMs, () => void this.#close(id, ending), { background: true });
    this.#listener.over();
    return undefined;
  }

  async #close(id: string, ending: ItemEnding): Promise<void> {
    const item = this.#open.get(id);
    this.#open.delete(id);
    if (item !== undefined) await this.#settle(item, ending);
  }

  async #settle(item: LiveItem, ending: ItemEnding): Promise<void> {
    await this.#write(item, ending);
    this.#listener.over();
  }

  /** Closes work besides turns of which the host has said nothing for this long. */
  expire(nowMs: number, limitMs: number): void {
    for (const [id, { work, heardAtMs }] of this.#open)
      if (work !== undefined && nowMs - heardAtMs >= limitMs) void this.#close(id, NOT_REPORTED);
  }

  /** Time passes, which some hosts charge for even if nobody speaks. Resolves with the refusal of the next minute. */
  async passTime(nowMs: number): Promise<GatewayError | undefined> {
    const isTimed = priceOf(this.#host.target.pricings, "seconds").state === "priced";
    if (!isTimed || nowMs < this.#nextMinuteMs || this.#ending !== undefined) return undefined;
    this.#nextMinuteMs = nowMs + MINUTE_MS;
    const usage = { seconds: MINUTE_MS / 1000 };
    const last = this.#minute;
    this.#minute = undefined;
    if (last !== undefined) await this.#write(last, { outcome: "ok", whole: true, usage });
    try {
      this.#minute = await this.#admit(this.#askedWork({ id: TIME, what: TIME, usage }, 0));
    } catch (refusal) {
      return asGatewayError(refusal);
    }
    if (this.#ending !== undefined) await this.endAll(this.#ending);
    return undefined;
  }

  /** What an item used in all. After its receipt, only what that lacks is billed. */
  async used({ id = UNNAMED, usage }: { id?: string; usage: Usage }): Promise<void> {
    const open = this.#open.get(id);
    if (open?.ending !== undefined) return this.#close(id, { ...open.ending, usage });
    if (open !== undefined) {
      open.reported = laterUsage(open.reported, usage);
      return;
    }
    const { usage: billed, target } = this.#closed.get(id) ?? { usage: {}, target: this.#host.target };
    const rest = usageBeyond(usage, billed);
    if (Object.keys(rest).length === 0) return;
    this.#remember(id, sumUsage(billed, rest), target);
    const item = await this.#admitOrRecord(this.#askedWork({ id, what: "late usage", usage: rest }, 0, target));
    await this.#write(item, { outcome: "ok", whole: true, usage: rest });
  }

  #remember(id: string, usage: Usage, target: LiveTarget): void {
    this.#closed.set(id, { usage, target });
    forgetOldest(this.#closed, MAX_CLOSED);
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
      if (item.id !== undefined) this.#remember(item.id, item.billed, item.target);
      await settled;
    } catch (err) {
      this.#gateway.log.error({ err, receipt: item.receiptId }, "receipt of a live session was not written");
    }
  }

  /** Ends everything that runs. */
  async endAll(ending: ItemEnding): Promise<void> {
    this.#ending = ending;
    const open = [...this.#pending, ...this.#open.values()];
    if (this.#minute !== undefined) open.push(this.#minute);
    this.#minute = undefined;
    this.#pending.length = 0;
    this.#open.clear();
    await Promise.all(open.map((item) => this.#write(item, item.ending ?? ending)));
  }
}

const ITEM_EVENTS: ReadonlySet<string> = new Set(["turn-began", "turn-ended", "work-began", "work-ended"]);

/** The host did not say how it ended. It may have done it. */
const NOT_REPORTED: ItemEnding = { outcome: "ok", whole: false, usage: undefined };

function forgetOldest(map: Map<string, unknown>, most: number): void {
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}

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
