import type { Billable } from "../../canon/billable.ts";
import { asGatewayError, GatewayError } from "../../canon/error.ts";
import type { LiveEvent, LiveSettings } from "../../canon/live.ts";
import { addNote } from "../../canon/notes.ts";
import type { FieldNote, OfferTried } from "../../canon/receipt.ts";
import type { Stop } from "../../canon/stop.ts";
import type { Usage, UsagePass } from "../../canon/usage.ts";
import type { Gateway } from "../gateway.ts";
import { ASSUMED_OUTPUT_TOKENS } from "../request/output-limit.ts";
import type { HostConnection } from "./host-connection.ts";
import type { LiveCaller } from "./live-caller.ts";
import { LiveContext } from "./live-context.ts";
import type { AskedTurn } from "./live-kind.ts";
import { LiveTurn, type TurnEnding } from "./live-turn.ts";

/** Turns that may be in progress at one time, with those whose usage is awaited. */
const MAX_TURNS = 16;
/** Receipts of turns that have ended. The host may name a turn once more. */
const MAX_RECEIPTS = 16;

/** What hosts bill besides turns. */
const TRANSCRIPTION = "input_transcription_usage";
const LATE = "late_usage";

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

/** The turns of one session: found in what its host sends, admitted and billed one by one. */
export class SessionTurns {
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
  readonly #pending: LiveTurn[] = [];
  /** By the host's name. */
  readonly #running = new Map<string, LiveTurn>();
  /** Turns that have ended without usage, which some hosts report later. */
  readonly #unreported = new Map<string, { turn: LiveTurn; ending: TurnEnding }>();
  readonly #receipts = new Map<string, string>();
  /** The attempts that opened the session, for the receipt of its first turn. */
  #opening: readonly OfferTried[];
  #passes: UsagePass[] = [];
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

  /** How many are in progress. */
  get running(): number {
    return this.#pending.length + this.#running.size;
  }

  *all(): Generator<LiveTurn> {
    yield* this.#pending;
    yield* this.#running.values();
  }

  /** The turn that the host speaks in. */
  get current(): LiveTurn | undefined {
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
    if (this.running + this.#unreported.size >= MAX_TURNS) throw tooManyTurns();
    const asked = this.#asked(sent, billables, maxOutputTokens);
    this.#pending.push(await LiveTurn.admit(asked, this.#gateway, { eventId, opening: this.#takeOpening() }));
    this.#listener.begun();
  }

  /** The host was not asked for the turn that was admitted last. */
  withdraw(): void {
    this.#pending.pop()?.withdraw();
    this.#listener.over();
  }

  #takeOpening(): readonly OfferTried[] {
    const opening = this.#opening;
    this.#opening = [];
    return opening;
  }

  #asked(sent: string, more: readonly Billable[], most = this.settings.maxOutputTokens): AskedTurn {
    const { target } = this.#host;
    const limit = target.offer.maxOutputTokens ?? target.model.maxOutputTokens ?? ASSUMED_OUTPUT_TOKENS;
    return {
      caller: this.#caller,
      target,
      prompt: this.context.prompt,
      mostOutput: typeof most === "number" ? Math.min(most, limit) : limit,
      billables: more.length === 0 ? this.billables : [...this.billables, ...more],
      sent,
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

  #place(id: string, turn: LiveTurn): void {
    turn.id = id;
    turn.heard();
    turn.passes = this.#takePasses();
    turn.notes = this.#notes.splice(0);
    this.#running.set(id, turn);
    this.#receipts.set(id, turn.receiptId);
    const [oldest] = this.#receipts.keys();
    if (this.#receipts.size > MAX_RECEIPTS && oldest !== undefined) this.#receipts.delete(oldest);
  }

  /** Admits a turn that the host has begun by itself. Throws if it is refused. */
  async admitBegun(id: string): Promise<void> {
    const turn = await LiveTurn.admit(this.#asked("", []), this.#gateway, { opening: this.#takeOpening() });
    this.#listener.begun();
    this.#place(id, turn);
  }

  /** Records a turn that the host began and the gateway refused, because it costs something nevertheless. */
  async recordRefused(id: string, refusal: GatewayError): Promise<void> {
    this.#place(id, await LiveTurn.admit(this.#asked("", []), this.#gateway, { refusal }));
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
      case "input-transcript":
        if (event.usage !== undefined) this.#passes.push(this.#transcription(event.usage));
        this.context.addText(event.text.length);
        break;
      default:
        turn?.heard();
    }
  }

  #transcription(usage: Usage): UsagePass {
    const model = this.settings.inputTranscription?.model;
    return model === undefined ? { kind: TRANSCRIPTION, usage } : { kind: TRANSCRIPTION, model, usage };
  }

  /** A turn is over. Returns a promise if its receipt is written now; otherwise its usage is awaited. */
  ended({ id, status, reason, error, usage }: Event<"turn-ended">): Promise<void> | undefined {
    const turn = this.#running.get(id);
    if (turn === undefined) return undefined;
    this.#running.delete(id);
    const failed = status === "failed" ? this.#host.target.provider.redactError(error ?? failedTurn()) : undefined;
    const ending: TurnEnding = {
      outcome: this.isLeft ? "client_gone" : (failed?.kind ?? "ok"),
      whole: status === "completed" || status === "incomplete",
      usage,
      stop: stopOf(status, reason),
      error: failed,
    };
    if (usage !== undefined || failed !== undefined || this.isLeft || !this.#host.isOpen || this.#gateway.closing)
      return this.#settle(turn, ending);
    this.#unreported.set(id, { turn, ending });
    const { clock, timings } = this.#gateway;
    clock.after(timings.afterFinishMs, () => void this.#settleUnreported(id), { background: true });
    this.#listener.over();
    return undefined;
  }

  async #settle(turn: LiveTurn, ending: TurnEnding): Promise<void> {
    await this.#write(turn, ending);
    this.#listener.over();
  }

  async #settleUnreported(id: string, usage?: Usage): Promise<void> {
    const found = this.#unreported.get(id);
    if (found === undefined) return;
    this.#unreported.delete(id);
    await this.#write(found.turn, usage === undefined ? found.ending : { ...found.ending, usage });
  }

  /** Usage that the host reports after the end of its turn. */
  lateUsage({ turnId, usage }: Event<"late-usage">): Promise<void> | undefined {
    const id = turnId ?? [...this.#unreported.keys()].at(-1);
    if (id !== undefined && this.#unreported.has(id)) return this.#settleUnreported(id, usage);
    // The receipt is written already, so that the next one has it.
    this.#passes.push({ kind: LATE, model: this.#host.target.offer.upstreamModel, usage });
    return undefined;
  }

  /** An error of the host. A turn that was asked for by the event at fault has ended before it began. */
  failed({ error, eventId }: Event<"error">): Promise<void> | undefined {
    const index = this.#pending.findIndex((turn) => eventId === undefined || turn.eventId === eventId);
    const [turn] = index < 0 ? [] : this.#pending.splice(index, 1);
    if (turn === undefined) return undefined;
    const redacted = this.#host.target.provider.redactError(error);
    return this.#settle(turn, { outcome: redacted.kind, whole: false, usage: undefined, error: redacted });
  }

  async #write(turn: LiveTurn, ending: TurnEnding): Promise<void> {
    if (ending.usage !== undefined) this.context.settle(ending.usage);
    try {
      await turn.settle(ending);
    } catch (err) {
      this.#gateway.log.error({ err, receipt: turn.receiptId }, "receipt of a turn was not written");
    }
  }

  /** Ends everything that runs, and bills what belongs to no turn: speech that was written down and never answered. */
  async endAll(ending: TurnEnding): Promise<void> {
    const running = [...this.all()];
    this.#pending.length = 0;
    this.#running.clear();
    const writing = running.map((turn) => this.#write(turn, ending));
    for (const id of [...this.#unreported.keys()]) writing.push(this.#settleUnreported(id));
    await Promise.all(writing);
    const passes = this.#takePasses();
    if (passes.length === 0) return;
    try {
      const rest = await LiveTurn.admit(this.#asked("", []), this.#gateway, { isDone: true });
      rest.passes = passes;
      await this.#write(rest, { outcome: "ok", whole: true, usage: {} });
    } catch (err) {
      this.#gateway.log.error({ err: asGatewayError(err) }, "usage of a session was not billed");
    }
  }

  #takePasses(): readonly UsagePass[] {
    return this.#passes.splice(0);
  }
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
