import { createHash } from "node:crypto";
import { isObject, type JsonObject, stringAt } from "../../../base/json.ts";
import { GatewayError } from "../../../canon/error.ts";
import { elementTexts, findValue } from "../../../wire/json-text.ts";
import type { InputPage, InputTurn } from "../../answer/stored-answers.ts";
import { outputOf } from "./expand-items.ts";

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;

/** Prefixes of generated item ids. */
const PREFIXES: Readonly<Record<string, string>> = {
  message: "msg",
  reasoning: "rs",
  function_call: "fc",
  function_call_output: "fco",
  custom_tool_call: "ctc",
  custom_tool_call_output: "ctco",
};

/** A page ends before an item that would exceed this. A single item can be as large as a request. */
const MAX_PAGE_CHARACTERS = 8 * 1024 * 1024;

/**
 * Opens one page of a response's input items, latest first by default. It takes turns in its order until it is full. Items that are not on
 * the page are not parsed.
 */
export function openPage(query: URLSearchParams): InputPage {
  return new Page(limitOf(query.get("limit")), orderOf(query.get("order")), query.get("after"));
}

class Page implements InputPage {
  readonly order: "asc" | "desc";
  readonly #limit: number;
  readonly #after: string | null;
  #begun: boolean;
  readonly #items: { id: string; text: string }[] = [];
  #more = false;
  characters = 0;

  constructor(limit: number, order: "asc" | "desc", after: string | null) {
    this.#limit = limit;
    this.order = order;
    this.#after = after;
    this.#begun = after === null;
  }

  take({ id, input, answer }: InputTurn): boolean {
    const texts = [...elementTexts(input), ...(answer === undefined ? [] : elementTexts(outputOf(answer)))];
    const indexes = texts.keys();
    for (const index of this.order === "asc" ? indexes : [...indexes].reverse()) {
      const text = texts[index] ?? "";
      if (!this.#begun) this.#begun = idOf(text, id, index) === this.#after;
      else if (!this.#add(text, id, index)) return false;
    }
    return true;
  }

  /** Returns false if the page is full. */
  #add(text: string, turn: string, index: number): boolean {
    const isFull = this.#items.length === this.#limit;
    if (isFull || (this.#items.length > 0 && this.characters + text.length > MAX_PAGE_CHARACTERS)) {
      this.#more = true;
      return false;
    }
    const id = idOf(text, turn, index);
    const item = JSON.stringify(listed(JSON.parse(text) as unknown, id));
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
  const type = valueAt(text, "type") ?? "message";
  const digest = createHash("sha256").update(`${turn}\n${index}`).digest("hex").slice(0, 40);
  return `${PREFIXES[String(type)] ?? "item"}_${digest}`;
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
function listed(item: unknown, id: string): JsonObject {
  const { type = "message", ...rest } = isObject(item) ? item : {};
  const full = { type, id, ...(type === "message" ? { status: "completed" } : {}), ...rest };
  const text = stringAt(rest, "content");
  if (type !== "message" || text === undefined) return full;
  const part =
    rest["role"] === "assistant" ? { type: "output_text", text, annotations: [] } : { type: "input_text", text };
  return { ...full, content: [part] };
}
