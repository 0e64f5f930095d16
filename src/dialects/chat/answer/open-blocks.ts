import type { WebCitation } from "../../../canon/citation.ts";
import { GatewayError } from "../../../canon/error.ts";
import type { CanonEvent, WholePart } from "../../../canon/event.ts";
import type { Opaque } from "../../../canon/opaque.ts";
import { requireFewBlocks, requireFewCalls } from "../../answer/answer-bounds.ts";
import { citationWithin } from "../../answer/url-citation.ts";
import {
  type Detail,
  EMPTY_TEXT_ID,
  type OriginReader,
  opaqueOf,
  readFromHost,
  TEXT_ID,
} from "../reasoning-details.ts";
import { CallInput } from "./call-input.ts";

/** A chunk of a streamed tool call, with the index that identifies the call. */
interface CallFragment {
  index: number;
  /** Only in a call's first fragment. */
  id: string | undefined;
  name: string | undefined;
  input: string;
  custom: boolean;
  signature?: Opaque;
}

interface OpenCall {
  block: number;
  id: string;
  readonly input: CallInput;
  custom: boolean;
  ended: boolean;
  signature?: Opaque;
}

interface OpenReasoning {
  block: number;
  text: string;
  /** The text came only in details, not in the plain fields next to them. */
  fromDetails: boolean;
  index: number | undefined;
  signature?: Opaque;
}

/** How many characters of arguments may wait for the call's name. */
const MAX_NAMELESS = 1024 * 1024;

/**
 * This protocol streams fields, not blocks. A block begins with the first chunk of its field and ends with a chunk of another one. Tool
 * calls may interleave, and stay open until another begins after their arguments are complete.
 */
export class OpenBlocks {
  readonly #readOrigin: OriginReader;
  readonly #calls = new Map<number, OpenCall>();
  /** Calls whose name has not arrived yet. */
  readonly #nameless = new Map<number, CallFragment>();
  /** Details with an id that may belong to a later call, and the ids of the calls in this chunk. */
  #unclaimed: Detail[] = [];
  #upcoming: ReadonlySet<string> = new Set();
  #citations: WebCitation[] = [];
  #next = 0;
  /** Characters of text before the open text block. */
  #offset = 0;
  #text: { block: number; length: number; signature?: Opaque } | undefined;
  #reasoning: OpenReasoning | undefined;
  #refusal: number | undefined;

  constructor(origin: string) {
    this.#readOrigin = readFromHost(origin);
  }

  /** A call has begun that no event has announced yet. */
  get hasNameless(): boolean {
    return this.#nameless.size > 0;
  }

  get hasCalls(): boolean {
    return this.#calls.size > 0;
  }

  hasCall(index: number): boolean {
    return this.#calls.has(index);
  }

  text(text: string): CanonEvent[] {
    if (text === "") return [];
    const events = this.#text === undefined ? this.#beginText() : [];
    if (this.#text === undefined) return events;
    this.#text.length += text.length;
    return [...events, { type: "text-delta", block: this.#text.block, text }];
  }

  refusal(text: string): CanonEvent[] {
    const events: CanonEvent[] = [];
    if (this.#refusal === undefined) {
      events.push(...this.#endSpoken(), ...this.#endWholeCalls());
      this.#refusal = this.#next++;
      events.push({ type: "refusal-start", block: this.#refusal });
    }
    return [...events, { type: "refusal-delta", block: this.#refusal, text }];
  }

  reasoning(text: string): CanonEvent[] {
    return text === "" ? [] : this.#think(text, false, undefined);
  }

  whole(part: WholePart): CanonEvent[] {
    return [...this.#endSpoken(), { type: "whole", block: this.#next++, part }];
  }

  /** A citation waits for the end of its text, because its range may cover the whole text. */
  cite(citation: WebCitation): void {
    // Citations of later texts are checked again at the end of each text. Together, texts and citations are few.
    requireFewBlocks(this.#next + this.#citations.push(citation));
  }

  /** Reasoning of one chunk: in plain fields, in details, or the same in both. */
  details(spoken: string, details: readonly Detail[], upcoming: ReadonlySet<string>): CanonEvent[] {
    const events: CanonEvent[] = [];
    const first = details.find(({ kind }) => kind !== "encrypted");
    this.#upcoming = upcoming;
    if (spoken !== "") events.push(...this.#think(spoken, false, first?.index, first?.kind === "summary"));
    for (const detail of details) {
      if (detail.kind === "encrypted") events.push(...this.#encrypted(detail));
      else if (spoken !== "") this.#sign(detail);
      else events.push(...this.#detailAlone(detail));
    }
    return events;
  }

  call(chunk: CallFragment): CanonEvent[] {
    const known = this.#calls.get(chunk.index);
    const fragment = known === undefined ? this.#behindHeld(chunk) : chunk;
    const events = known === undefined ? this.#beginCall(fragment) : [];
    const call = known ?? this.#calls.get(fragment.index);
    if (call === undefined || call.ended) return events;
    if (fragment.signature !== undefined) call.signature = fragment.signature;
    if (fragment.input === "") return events;
    call.input.push(fragment.input);
    return [...events, { type: "tool-input-delta", block: call.block, text: fragment.input }];
  }

  /** The stream is over, so all open blocks end. */
  endAll(): CanonEvent[] {
    const events = this.#endSpoken();
    for (const call of this.#calls.values()) if (!call.ended) events.push(this.#endCall(call));
    return [...events, ...this.#flushUnclaimed()];
  }

  #beginText(): CanonEvent[] {
    const events = [...this.#endSpoken(), ...this.#endWholeCalls(), ...this.#flushUnclaimed()];
    this.#text = { block: this.#next++, length: 0 };
    return [...events, { type: "text-start", block: this.#text.block }];
  }

  #endText(): CanonEvent[] {
    if (this.#text === undefined) return [];
    const { block, length, signature } = this.#text;
    const events: CanonEvent[] = [];
    for (const citation of this.#citations) {
      const positioned = citationWithin(citation, this.#offset, length);
      if (positioned !== undefined) events.push({ type: "citation", block, citation: positioned });
    }
    this.#offset += length;
    this.#citations = this.#citations.filter(({ start }) => start !== undefined && start >= this.#offset);
    this.#text = undefined;
    return [...events, { type: "text-end", block, ...(signature === undefined ? {} : { signature }) }];
  }

  #endReasoning(): CanonEvent[] {
    if (this.#reasoning === undefined) return [];
    const { block, signature } = this.#reasoning;
    this.#reasoning = undefined;
    return [{ type: "reasoning-end", block, ...(signature === undefined ? {} : { signature }) }];
  }

  #endSpoken(): CanonEvent[] {
    const events = [...this.#endReasoning(), ...this.#endText()];
    if (this.#refusal !== undefined) events.push({ type: "refusal-end", block: this.#refusal });
    this.#refusal = undefined;
    return events;
  }

  #think(text: string, fromDetails: boolean, index: number | undefined, summary = false): CanonEvent[] {
    const events: CanonEvent[] = [];
    const open = this.#reasoning;
    const other = open?.index !== undefined && index !== undefined && open.index !== index;
    if (open === undefined || other) events.push(...this.#beginReasoning(fromDetails, summary));
    const current = this.#reasoning;
    if (current === undefined) return events;
    current.index ??= index;
    current.text += text;
    return text === "" ? events : [...events, { type: "reasoning-delta", block: current.block, text }];
  }

  #beginReasoning(fromDetails: boolean, summary: boolean): CanonEvent[] {
    const events = [...this.#endSpoken(), ...this.#endWholeCalls(), ...this.#flushUnclaimed()];
    const block = this.#next++;
    this.#reasoning = { block, text: "", fromDetails, index: undefined };
    return [...events, { type: "reasoning-start", block, ...(summary ? { summary } : {}) }];
  }

  /** A detail without a plain field next to it. It repeats the whole open block, signs it, or is all that the provider sends. */
  #detailAlone(detail: Detail): CanonEvent[] {
    const open = this.#reasoning;
    const text = detail.text ?? "";
    if (text === "" && detail.value === undefined) return [];
    const repeats = open !== undefined && !open.fromDetails && (text === "" || text === open.text);
    const events: CanonEvent[] = [];
    if (!repeats) {
      if (open !== undefined && !open.fromDetails) events.push(...this.#endReasoning());
      events.push(...this.#think(text, true, detail.index, detail.kind === "summary"));
    }
    this.#sign(detail);
    return repeats || detail.value !== undefined ? [...events, ...this.#endReasoning()] : events;
  }

  #sign(detail: Detail): void {
    const opaque = opaqueOf(detail, this.#readOrigin, false);
    if (opaque !== undefined && this.#reasoning !== undefined) this.#reasoning.signature = opaque;
  }

  #encrypted(detail: Detail): CanonEvent[] {
    const { id } = detail;
    if (id === undefined) return this.#encryptedBlock(detail, false);
    const opaque = opaqueOf(detail, this.#readOrigin, false);
    if (opaque === undefined) return [];
    const signature: Opaque = { ...opaque, kind: "signature" };
    if (id === TEXT_ID && this.#text !== undefined) {
      this.#text.signature = signature;
      return this.#endText();
    }
    if (id === EMPTY_TEXT_ID) {
      const events = this.#beginText();
      if (this.#text !== undefined) this.#text.signature = signature;
      return [...events, ...this.#endText()];
    }
    const call = [...this.#calls.values()].find((known) => known.id === id);
    if (call !== undefined) {
      call.signature = signature;
      return [];
    }
    requireFewCalls(this.#unclaimed.push(detail));
    return [];
  }

  #encryptedBlock(detail: Detail, keepId: boolean): CanonEvent[] {
    const signature = opaqueOf(detail, this.#readOrigin, keepId);
    if (signature === undefined) return [];
    const block = this.#next++;
    return [...this.#endSpoken(), { type: "reasoning-start", block }, { type: "reasoning-end", block, signature }];
  }

  #flushUnclaimed(): CanonEvent[] {
    const details = this.#unclaimed;
    this.#unclaimed = [];
    return details.flatMap((detail) => this.#encryptedBlock(detail, true));
  }

  /** A block begins with the call's name, which some providers send after its id. */
  #behindHeld(chunk: CallFragment): CallFragment {
    const held = this.#nameless.get(chunk.index);
    this.#nameless.delete(chunk.index);
    const input = (held?.input ?? "") + chunk.input;
    const joined = { ...held, ...chunk, id: held?.id ?? chunk.id, custom: held?.custom || chunk.custom, input };
    if (joined.name) return joined;
    if (input.length > MAX_NAMELESS) {
      throw new GatewayError("upstream_failed", "The provider sent arguments for a tool call without its name.");
    }
    this.#nameless.set(chunk.index, joined);
    return joined;
  }

  #beginCall({ index, id, name, custom, signature }: CallFragment): CanonEvent[] {
    if (id === undefined || !name) return [];
    const claimed = this.#unclaimed.find((detail) => detail.id === id);
    const others = this.#unclaimed.filter((detail) => detail !== claimed);
    const waiting = others.filter((detail) => this.#upcoming.has(detail.id ?? ""));
    this.#unclaimed = others.filter((detail) => !this.#upcoming.has(detail.id ?? ""));
    const events = [...this.#endSpoken(), ...this.#endWholeCalls(), ...this.#flushUnclaimed()];
    this.#unclaimed = waiting;
    const value = claimed === undefined ? undefined : opaqueOf(claimed, this.#readOrigin, false);
    const reported = signature ?? (value === undefined ? undefined : ({ ...value, kind: "signature" } as const));
    const call: OpenCall = { block: this.#next++, id, input: new CallInput(""), custom, ended: false };
    this.#calls.set(index, reported === undefined ? call : { ...call, signature: reported });
    const start = { type: "tool-input-start", block: call.block, id, name, ...(custom ? { custom } : {}) } as const;
    return [...events, start];
  }

  /** Ends calls with complete arguments once something else begins. Others may continue. */
  #endWholeCalls(): CanonEvent[] {
    const whole = [...this.#calls.values()].filter((call) => !call.ended && !call.custom && call.input.isWhole);
    return whole.map((call) => this.#endCall(call));
  }

  #endCall(call: OpenCall): CanonEvent {
    call.ended = true;
    const { block, signature } = call;
    return { type: "tool-input-end", block, ...(signature === undefined ? {} : { signature }) };
  }
}
