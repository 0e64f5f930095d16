import type { Turn } from "../../../text/prompt.ts";
import { mergeTurns, type Prompt } from "../../../text/prompt.ts";
import { invalid } from "../text/errors.ts";
import { audioTokens, type Item, promptParts } from "./items.ts";

/** Enough for a session of an hour, and a bound for what it keeps. */
const MAX_ITEMS = 2_000;
/** Older items lose their sound, and keep their words. */
const WITH_SOUND = 8;

/** The items of a session, in order. */
export class Conversation {
  readonly id: string;
  readonly #items: Item[] = [];

  constructor(id: string) {
    this.id = id;
  }

  get items(): readonly Item[] {
    return this.#items;
  }

  /** Whether the model has said something aloud. */
  get hasSpoken(): boolean {
    return this.#items.some(
      (item) => item.type === "message" && item.role === "assistant" && item.parts.some(({ type }) => type === "audio"),
    );
  }

  get lastId(): string | null {
    return this.#items.at(-1)?.id ?? null;
  }

  before(item: Item): string | null {
    return this.#items[this.#items.indexOf(item) - 1]?.id ?? null;
  }

  find(id: string): Item | undefined {
    return this.#items.find((item) => item.id === id);
  }

  add(item: Item): void {
    this.#items.push(item);
    this.#bound();
  }

  /** Inserts after an item, or at the beginning for `root`. */
  insert(item: Item, previousId: string | undefined): void {
    if (this.find(item.id) !== undefined) {
      const message = `Error adding item: an item with the ID '${item.id}' already exists in the conversation.`;
      throw invalid(message, "item.id", "item_create_duplicate_id");
    }
    const last = previousId === undefined ? (this.lastId ?? "root") : previousId;
    const at = last === "root" ? -1 : this.#items.findIndex(({ id }) => id === last);
    if (at < 0 && last !== "root") {
      const message = `Error adding item: the previous item with ID '${last}' does not exist.`;
      throw invalid(message, "previous_item_id", "item_create_invalid_previous_item_id");
    }
    this.#items.splice(at + 1, 0, item);
    this.#bound();
  }

  delete(id: string): void {
    const at = this.#items.findIndex((item) => item.id === id);
    if (at < 0) {
      const message = `Error deleting item: the item with id '${id}' does not exist.`;
      throw invalid(message, "item_id", "item_delete_invalid_item_id");
    }
    this.#items.splice(at, 1);
  }

  /** Takes away what a user has not heard of an answer. */
  truncate(id: string, contentIndex: number, endMs: number): void {
    const item = this.find(id);
    const part = item?.type === "message" && item.role === "assistant" ? item.parts[contentIndex] : undefined;
    if (part?.type !== "audio") {
      const message = `Error truncating item: no assistant message with audio at index ${contentIndex} has the id '${id}'.`;
      throw invalid(message, "item_id", "item_truncate_invalid_item_id");
    }
    if (endMs > part.ms) {
      const message = `Audio content of ${part.ms}ms is already shorter than ${endMs}ms`;
      throw invalid(message, "audio_end_ms", "invalid_value");
    }
    const kept = Math.floor((part.bytes.length * endMs) / Math.max(1, part.ms));
    part.bytes = part.bytes.subarray(0, kept - (kept % 2));
    part.ms = endMs;
    part.tokens = audioTokens(endMs, "assistant");
    part.words = undefined;
    part.transcript = null;
  }

  #bound(): void {
    if (this.#items.length > MAX_ITEMS) this.#items.splice(0, this.#items.length - MAX_ITEMS);
    const old = this.#items.at(-WITH_SOUND - 1);
    if (old?.type !== "message") return;
    for (const part of old.parts) if (part.type === "audio") part.bytes = new Uint8Array();
  }
}

/** The turns of the prompt that these items make. */
export function turnsOf(items: readonly Item[]): Pick<Prompt, "system" | "turns"> {
  const names = new Map<string, string>();
  for (const item of items) if (item.type === "function_call") names.set(item.callId, item.name);
  const nameOf = (callId: string): string => names.get(callId) ?? "function";
  const system: Prompt["system"] = [];
  const turns: Turn[] = [];
  for (const item of items) {
    const parts = promptParts(item, nameOf);
    if (item.type === "message" && item.role === "system") {
      for (const part of parts) if (part.type === "text") system.push({ text: part.text });
      continue;
    }
    const isModel = item.type === "function_call" || (item.type === "message" && item.role === "assistant");
    turns.push({ role: isModel ? "assistant" : "user", parts });
  }
  return { system, turns: mergeTurns(turns) };
}
