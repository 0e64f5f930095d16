import type { JsonObject } from "../../base/json.ts";
import type { Turn } from "../../canon/call.ts";
import type { LiveItem } from "../../canon/live.ts";
import type { Part, ToolResultPart } from "../../canon/part.ts";
import { asWavFile } from "../session/spoken-item.ts";
import { encodeTurns, type SetupScope } from "./encode-setup.ts";
import { frameOf } from "./frame-of.ts";

/** Items that wait for the turn in which they are sent. */
const MAX_PENDING = 1000;
const MAX_PENDING_CHARACTERS = 16 * 1024 * 1024;

/** The characters of texts, results and media. */
function weightOf(parts: readonly Part[]): number {
  let weight = 0;
  for (const part of parts) {
    if (part.type === "tool-result") weight += weightOf(part.content);
    else if (part.type === "media") weight += part.source.type === "data" ? part.source.data.length : 0;
    else if (part.type === "tool-call") weight += part.input.length;
    else if ("text" in part) weight += part.text?.length ?? 0;
  }
  return weight;
}

/** Messages and results of calls that the host gets with the next turn. */
export class WaitingItems {
  readonly #scope: SetupScope;
  #messages: LiveItem[] = [];
  #results: ToolResultPart[] = [];
  /** The host's name of the function, by call. */
  readonly #openCalls = new Map<string, string>();
  readonly #cancelledCalls = new Set<string>();

  constructor(scope: SetupScope) {
    this.#scope = scope;
  }

  get count(): number {
    return this.#messages.length + this.#results.length;
  }

  get hasMessages(): boolean {
    return this.#messages.length > 0;
  }

  get hasResults(): boolean {
    return this.#results.length > 0;
  }

  /** Whether there is no room for these parts. */
  isFull(parts: readonly Part[]): boolean {
    const waiting = [...this.#messages.flatMap(({ turn }) => turn.parts), ...this.#results, ...parts];
    return waiting.length > MAX_PENDING || weightOf(waiting) > MAX_PENDING_CHARACTERS;
  }

  /** `spoken`: the item of the user's speech. A client may name the last item of the conversation, which is where new ones go. */
  add(item: LiveItem, after: string | undefined, spoken: string | undefined): void {
    const { notes } = this.#scope;
    const place = after === undefined ? -1 : this.#messages.findIndex(({ id }) => id === after);
    const isEarlier = this.#messages.length > 0 || spoken !== after;
    if (after !== undefined && place < 0 && after !== "root" && isEarlier)
      notes.approximated("previous_item_id", "this provider adds items at the end of the conversation");
    const results = item.turn.parts.filter((part): part is ToolResultPart => part.type === "tool-result");
    const others = item.turn.parts.filter((part) => part.type !== "tool-result" || !this.#openCalls.has(part.callId));
    for (const result of results) {
      if (this.#cancelledCalls.has(result.callId))
        notes.dropped("item", "the call was cancelled by the provider because the user interrupted the model");
      else if (this.#openCalls.has(result.callId)) this.#results.push(result);
    }
    const kept = others.filter((part) => part.type !== "tool-result" || !this.#cancelledCalls.has(part.callId));
    if (kept.length === 0) return;
    const pending = { ...item, turn: { ...item.turn, parts: kept } };
    if (after === "root") this.#messages.unshift(pending);
    else if (place >= 0) this.#messages.splice(place + 1, 0, pending);
    else this.#messages.push(pending);
  }

  /** A message that is no item of the client. */
  addTurn(turn: Turn): void {
    this.#messages.push({ id: "", turn });
  }

  /** Returns false if the host has it already. */
  remove(itemId: string): boolean {
    const index = this.#messages.findIndex(({ id }) => id === itemId);
    if (index < 0) return false;
    this.#messages.splice(index, 1);
    return true;
  }

  callOpened(id: string, name: string): void {
    this.#openCalls.set(id, name);
  }

  callsCancelled(ids: readonly string[]): void {
    for (const id of ids) {
      if (this.#openCalls.delete(id)) this.#cancelledCalls.add(id);
    }
    this.#results = this.#results.filter(({ callId }) => !this.#cancelledCalls.has(callId));
  }

  takeMessages(): readonly JsonObject[] {
    const turns = this.#messages.map(({ turn }): Turn => {
      const parts = turn.parts.map((part): Part => (part.type === "media" ? asWavFile(part) : part));
      return { ...turn, parts };
    });
    this.#messages = [];
    return encodeTurns(turns, this.#scope);
  }

  /** What the user wrote, for hosts that read nothing else once the conversation has begun. */
  takeText(): string {
    const texts: string[] = [];
    for (const { turn } of this.#messages) {
      for (const part of turn.parts) {
        if (turn.role !== "assistant" && part.type === "text") texts.push(part.text);
        else
          this.#scope.notes.dropped(
            part.path ?? turn.path,
            "this model reads only text of the user within a conversation",
          );
      }
    }
    this.#messages = [];
    return texts.join("\n\n");
  }

  takeResults(): string {
    const functionResponses = this.#results.map((result) => {
      const name = this.#openCalls.get(result.callId) ?? result.name ?? "";
      this.#openCalls.delete(result.callId);
      const texts = result.content.flatMap((part) => (part.type === "text" ? [part.text] : []));
      return { id: result.callId, name, response: result.response ?? { output: texts.join("\n") } };
    });
    this.#results = [];
    return frameOf({ toolResponse: { functionResponses } });
  }
}
