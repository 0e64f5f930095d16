import { type JsonObject, parseObject } from "../../base/json.ts";
import type { AnswerTexts, TextPiece } from "../../dialects/answer/answer-texts.ts";
import { actsOn, checkAll } from "../answer-check.ts";
import { askHook } from "../ask-hook.ts";
import type { CheckContext } from "../check-context.ts";
import { checkTexts } from "../check-texts.ts";
import type { CheckedText } from "../checked-text.ts";
import type { Guard } from "../guard.ts";
import { GuardFailedError } from "../guard-errors.ts";
import { GuardTally } from "../guard-tally.ts";
import { JsonDocument } from "../json-document.ts";
import type { HookText } from "../text-hook.ts";
import { BlockText } from "./block-text.ts";
import type { Segment } from "./segment.ts";
import type { EventPiece, StreamEvent } from "./stream-event.ts";

/** What waits for the guards is limited (H20). */
const MAX_WAITING = 8 * 1024 * 1024;

/** One event of a stream: its framing and its data. */
export interface ReceivedEvent {
  readonly raw: string;
  readonly data: string | undefined;
  readonly write: (data: string) => string;
}

/**
 * The guards on a streamed response. Events are held in order until every text in them has passed all guards, so that nothing leaves that
 * may still be changed. An event whose texts are unchanged keeps its bytes.
 */
export class StreamGuard {
  readonly #guards: readonly Guard[];
  readonly #context: CheckContext;
  readonly #places: AnswerTexts;
  readonly #blocks = new Map<string, BlockText>();
  readonly #acts: boolean;
  /** The largest window: this much other text ends the wait for a text that does not continue. */
  readonly #window: number;
  #events: StreamEvent[] = [];
  /** Complete texts that no guard has seen. */
  #whole: CheckedText[] = [];
  /** Complete JSON texts, with the blocks that they are. */
  #json: { block: BlockText; document: JsonDocument | undefined; text: CheckedText }[] = [];
  #arrived = 0;
  #hasEnded = false;
  #waiting = 0;
  /** What became of complete texts that later events repeat, by kind: a name is searched and redacted in another way than a text. */
  readonly #known = new Map<CheckedText["kind"], Map<string, string>>();
  /** Log probabilities were removed. */
  hasDroppedTokens = false;
  /** Set while something outside of the gateway is asked. Nothing may be pushed meanwhile. */
  pending: Promise<void> | undefined;

  constructor(guards: readonly Guard[], places: AnswerTexts, context: CheckContext) {
    this.#guards = guards;
    this.#places = places;
    this.#context = context;
    this.#acts = actsOn(guards);
    this.#window = Math.max(0, ...guards.map(({ settings }) => settings.window));
  }

  /** Takes the next event. `check` then shows what arrived to the guards. */
  push(event: ReceivedEvent): void {
    const data = event.data === undefined ? undefined : parseObject(event.data);
    if (data === undefined || event.data === undefined) {
      this.#events.push({ ...event, document: undefined, pieces: [], repeated: [], seal: undefined });
      return;
    }
    const places = this.#places.pieces(data);
    const paths = new Set(places.map(({ path }) => path));
    const document = new JsonDocument(event.data, {
      dropsTokens: this.#acts,
      isPlain: (path, value) => paths.has(path) || this.#blockWith(value) !== undefined,
    });
    this.hasDroppedTokens ||= document.hasDroppedTokens;
    const pieces = this.#piecesOf(places, document);
    const seal = this.#sealOf(data, document);
    const repeated: { text: CheckedText; block: BlockText }[] = [];
    for (const text of document.texts) {
      if (text.original === "" || paths.has(text.path) || text === seal?.text) continue;
      const block = this.#blockWith(text.original);
      if (block !== undefined) repeated.push({ text, block });
      else if (this.#isNew(text)) this.#whole.push(text);
    }
    this.#events.push({ ...event, document, pieces, repeated, seal });
    this.#waiting += event.raw.length;
    for (const start of this.#places.ends(data)) this.#end(start);
    if (this.#waiting > MAX_WAITING)
      throw new GuardFailedError(this.#guards[0]?.settings.name ?? "", "the response is too large to check");
  }

  #piecesOf(places: readonly TextPiece[], document: JsonDocument): EventPiece[] {
    const pieces: EventPiece[] = [];
    for (const { path, block: name, isJson } of places) {
      const text = document.at(path);
      if (text === undefined) continue;
      const block = this.#block(name, isJson === true);
      block.push(text.original);
      this.#arrived += text.original.length;
      block.arrivedAt = this.#arrived;
      pieces.push({ block, text, end: block.arrived });
    }
    return pieces;
  }

  #block(name: string, isJson: boolean): BlockText {
    const known = this.#blocks.get(name);
    if (known !== undefined && !known.hasEnded) return known;
    const block = new BlockText(name, this.#guards, this.#context, isJson, this.#places.repeats);
    this.#blocks.set(name, block);
    return block;
  }

  #sealOf(data: JsonObject, document: JsonDocument): StreamEvent["seal"] {
    const place = this.#places.seal?.(data);
    const text = place && document.at(place.path);
    const block = place && this.#blocks.get(place.block);
    return text === undefined || block === undefined ? undefined : { text, block };
  }

  /** The text that an event repeats, which has just been completed. */
  #blockWith(text: string): BlockText | undefined {
    if (!this.#places.repeats || text === "") return undefined;
    for (const block of this.#blocks.values())
      if (block.arrived === text.length && block.original === text) return block;
    return undefined;
  }

  /** A text that was already checked is replaced as it was then. */
  #isNew(text: CheckedText): boolean {
    if (!this.#places.repeats) return true;
    const known = this.#known.get(text.kind)?.get(text.original);
    if (known === undefined) return true;
    text.value = known;
    return false;
  }

  #end(start: string): void {
    for (const block of this.#blocks.values())
      if (!block.hasEnded && block.name.startsWith(start)) this.#endBlock(block);
  }

  #endBlock(block: BlockText): void {
    block.hasEnded = true;
    if (!block.isWhole) return;
    let document: JsonDocument | undefined;
    if (/^\s*[{[]/.test(block.whole)) {
      try {
        JSON.parse(block.whole);
        document = new JsonDocument(block.whole, { path: block.name, free: true });
      } catch {
        // Arguments that are not JSON are checked as one text.
      }
    }
    const text: CheckedText = { path: block.name, kind: "text", original: block.whole, value: block.whole };
    this.#json.push({ block, document, text });
    this.#whole.push(...(document?.texts ?? [text]));
  }

  /** The stream has ended: so have its texts. */
  end(): void {
    this.#hasEnded = true;
    this.#end("");
  }

  /**
   * Shows everything new to the guards. If one of them asks outside of the gateway, `pending` is set until the rest has been shown. Throws
   * a GuardBlockedError or a GuardFailedError, or rejects with it.
   */
  check(): void {
    this.#settleStalled();
    const waits = this.#checkFrom(0);
    if (waits === undefined) return;
    this.pending = waits.finally(() => {
      this.pending = undefined;
    });
    // Whoever waits meets the error.
    this.pending.catch(() => {});
  }

  #checkFrom(from: number): Promise<void> | undefined {
    for (let index = from; index < this.#guards.length; index++) {
      const waits = this.#checkWith(index);
      if (waits !== undefined) return waits.then(() => this.#checkFrom(index + 1));
    }
    this.#finishWhole();
    return undefined;
  }

  #checkWith(index: number): Promise<void> | undefined {
    const guard = this.#guards[index];
    if (guard === undefined) return undefined;
    if (guard.finder !== undefined) {
      if (this.#whole.length > 0) void checkTexts(guard, this.#whole, this.#context);
      for (const block of this.#open()) this.#pass(block, index, block.stages[index]?.search(isFinal(block)) ?? []);
      return undefined;
    }
    return this.#ask(guard, index);
  }

  /** One question for everything that this guard is to see by now. */
  #ask(guard: Guard, index: number): Promise<void> | undefined {
    const texts: HookText[] = [];
    const takers: ((replacement: string | undefined) => void)[] = [];
    for (const text of this.#whole) {
      if (text.value === "" || !guard.kinds.has(text.kind)) continue;
      texts.push({ path: text.path, text: text.value });
      takers.push((replacement) => {
        if (replacement !== undefined) text.value = replacement;
      });
    }
    for (const block of this.#open()) {
      const final = isFinal(block);
      const text = block.stages[index]?.question(final);
      if (text === undefined) continue;
      texts.push({ path: block.name, text });
      takers.push((replacement) => this.#pass(block, index, block.stages[index]?.answer(replacement, final) ?? []));
    }
    if (texts.length === 0) return undefined;
    return askHook(guard, texts, this.#context).then((replacements) => {
      for (const [place, take] of takers.entries()) take(replacements.get(place));
    });
  }

  #open(): BlockText[] {
    return [...this.#blocks.values()].filter((block) => !block.isWhole && block.ready < block.arrived);
  }

  #pass(block: BlockText, index: number, segments: readonly Segment[]): void {
    const next = block.stages[index + 1];
    for (const segment of segments) {
      if (next === undefined) block.passed.push(segment);
      else next.push(segment);
    }
  }

  #finishWhole(): void {
    for (const { block, document, text } of this.#json) {
      const left = document?.write() ?? text.value;
      const isChanged = left !== block.whole;
      block.passed.push({ text: left, source: block.arrived, isChanged });
    }
    this.#json = [];
    if (this.#places.repeats)
      for (const { kind, original, value } of this.#whole) {
        if (original === "") continue;
        const known = this.#known.get(kind) ?? new Map<string, string>();
        this.#known.set(kind, known.set(original, value));
      }
    this.#whole = [];
    for (const block of this.#blocks.values()) block.isStalled = false;
    if (this.#hasEnded) this.#context.tally.finish();
  }

  /** A text that has not gone on while a window of others arrived is not waited for. */
  #settleStalled(): void {
    const [first] = this.#events;
    for (const { block } of first?.pieces ?? []) {
      if (block.hasEnded || block.isWhole || this.#arrived - block.arrivedAt < this.#window) continue;
      block.isStalled = true;
    }
  }

  /** A JSON text that repeats texts of the stream, as they are now. Others in it are shown to the guards. */
  checkRepeated(json: string): string | Promise<string> {
    const document = new JsonDocument(json, {
      dropsTokens: this.#acts,
      isPlain: (_path, value) => this.#blockWith(value) !== undefined,
    });
    const others: CheckedText[] = [];
    for (const text of document.texts) {
      const block = this.#blockWith(text.original);
      if (block !== undefined) text.value = block.left;
      else if (text.original !== "" && this.#isNew(text)) others.push(text);
    }
    const names = this.#guards.map(({ settings }) => settings.name);
    const context = { ...this.#context, tally: new GuardTally("response", names, "") };
    const waits = checkAll(this.#guards, others, context);
    const write = () => {
      document.unseal();
      return document.write();
    };
    return waits === undefined ? write() : waits.then(write);
  }

  /** The events that may be sent by now, in order. */
  *release(): Generator<string> {
    if (this.pending !== undefined && this.#acts) return;
    for (let event = this.#events[0]; event !== undefined && this.#isReady(event); event = this.#events[0]) {
      this.#events.shift();
      if (event.document !== undefined) this.#waiting -= event.raw.length;
      yield this.#written(event);
    }
  }

  #isReady({ pieces }: StreamEvent): boolean {
    return !this.#acts || pieces.every(({ block, end }) => block.ready >= end);
  }

  #written({ raw, write, document, pieces, repeated, seal }: StreamEvent): string {
    if (document === undefined || !this.#acts) return raw;
    for (const { block, text } of pieces) text.value = block.take(text.original.length);
    for (const { block, text } of repeated) text.value = block.left;
    if (seal?.block.isChanged) seal.text.value = "";
    return document.isChanged ? write(document.write()) : raw;
  }
}

/** Nothing more is waited for. */
const isFinal = ({ hasEnded, isStalled }: BlockText): boolean => hasEnded || isStalled;
