import { createHash } from "node:crypto";
import { isObject, type JsonObject, stringAt } from "../../../base/json.ts";
import { GatewayError } from "../../../canon/error.ts";
import { elementTexts, findValue } from "../../../wire/json-text.ts";
import type { InputPage, InputTurn } from "../../answer/stored-answers.ts";
import { outputOf } from "./expand-items.ts";
import { itemPrefix } from "./item-prefix.ts";

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;

/** A page ends before an item that would exceed this. A single item can be as large as a request. */
const MAX_PAGE_CHARACTERS = 8 * 1024 * 1024;

/**
 * Opens one page of a response's input items, latest first by default. It takes turns in its order until it is full. Items that are not on
 * the page are not parsed.
 */
export function openPage(query: URLSearchParams): InputPage {
  return new Page(readItemPage(query));
}

/** Which page of items a query selects. Throws if it is invalid. */
export function readItemPage(query: URLSearchParams): ItemPage {
  return {
    limit: limitOf(query.get("limit")),
    order: orderOf(query.get("order")),
    after: query.get("after") ?? undefined,
  };
}

interface ItemPage {
  limit: number;
  order: "asc" | "desc";
  /** The id of the item that precedes the page. */
  after: string | undefined;
}

class Page implements InputPage {
  readonly order: "asc" | "desc";
  readonly #limit: number;
  readonly #after: string | undefined;
  #begun: boolean;
  readonly #items: { id: string; text: string }[] = [];
  #more = false;
  characters = 0;

  constructor({ limit, order, after }: ItemPage) {
    this.#limit = limit;
    this.order = order;
    this.#after = after;
    this.#begun = after === undefined;
  }

  take({ id, input, ids, answer }: InputTurn): boolean {
    const texts = [...elementTexts(input), ...(answer === undefined ? [] : elementTexts(outputOf(answer)))];
    const indexes = texts.keys();
    for (const index of this.order === "asc" ? indexes : [...indexes].reverse()) {
      const text = texts[index] ?? "";
      const item = () => ids?.[index] ?? idOf(text, id, index);
      if (!this.#begun) this.#begun = item() === this.#after;
      else if (!this.#add(text, item)) return false;
    }
    return true;
  }

  /** Returns false if the page is full. */
  #add(text: string, idOfItem: () => string): boolean {
    const isFull = this.#items.length === this.#limit;
    if (isFull || (this.#items.length > 0 && this.characters + text.length > MAX_PAGE_CHARACTERS)) {
      this.#more = true;
      return false;
    }
    const id = idOfItem();
    const item = JSON.stringify(listedItem(JSON.parse(text) as unknown, id));
    this.#items.push({ id, text: item });
    this.characters += item.length;
    return true;
  }

  encode(): string {
    if (!this.#begun)
      refuse("after", `must be the id of an item of this response; it is "${(this.#after ?? "").slice(0, 80)}"`);
    const [first, last] = [this.#items[0], this.#items.at(-1)].map((item) => JSON.stringify(item?.id ?? null));
    const data = this.#items.map(({ text }) => text).join(",");
    return `{"object":"list","data":[${data}],"first_id":${first},"last_id":${last},"has_more":${this.#more}}`;
  }
}

/** An item's own id, or a stable generated one. */
function idOf(text: string, turn: string, index: number): string {
  const own = valueAt(text, "id");
  if (typeof own === "string") return own;
  const digest = createHash("sha256").update(`${turn}\n${index}`).digest("hex").slice(0, 40);
  return `${itemPrefix(valueAt(text, "type"))}_${digest}`;
}

function valueAt(text: string, name: string): unknown {
  const span = findValue(text, [name]);
  return span === undefined ? undefined : JSON.parse(text.slice(span.start, span.end));
}

function limitOf(asked: string | null): number {
  if (asked === null) return DEFAULT_LIMIT;
  const limit = Number(asked);
  if (!/^\d+$/.test(asked) || limit < 1 || limit > MAX_LIMIT) refuse("limit", `must be between 1 and ${MAX_LIMIT}`);
  return limit;
}

function orderOf(asked: string | null): "asc" | "desc" {
  if (asked === null || asked === "desc") return "desc";
  if (asked === "asc") return "asc";
  return refuse("order", "must be asc or desc");
}

function refuse(path: string, problem: string): never {
  throw new GatewayError("invalid_request", `${path} ${problem}.`, { path });
}

/** The complete item. A message may lack a type, and have a string as content. */
export function listedItem(item: unknown, id: string): JsonObject {
  const { type: written, ...rest } = isObject(item) ? item : {};
  const type = written ?? "message";
  const full = { type, ...(type === "message" ? { status: "completed" } : {}), ...rest, id };
  const text = stringAt(rest, "content");
  if (type !== "message" || text === undefined) return full;
  const part =
    rest["role"] === "assistant" ? { type: "output_text", text, annotations: [] } : { type: "input_text", text };
  return { ...full, content: [part] };
}
