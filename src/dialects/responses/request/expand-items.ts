import { arrayAt, isObject, type JsonObject, stringAt } from "../../../base/json.ts";
import { Notes } from "../../../canon/notes.ts";
import { elementTexts, findValue, ObjectEdit } from "../../../wire/json-text.ts";
import type { ExpandedRequest, FoundState, StateWords, TurnItem } from "../../answer/stored-answers.ts";
import type { ReceivedRequest } from "../../received-request.ts";
import { itemPrefix } from "./item-prefix.ts";
import { namedConversation } from "./named-conversation.ts";

/** The id of a stored item that this item refers to. The type may be missing. */
function referenceOf(item: unknown): string | undefined {
  if (!isObject(item)) return undefined;
  const type = item["type"] ?? undefined;
  if (type !== "item_reference" && (type !== undefined || "role" in item)) return undefined;
  return stringAt(item, "id");
}

/** The items that a turn adds to its conversation: those of the request, and those of its response. */
export function turnItems(own: string, answer: JsonObject): TurnItem[] {
  const output = answer["output"];
  return [...elementTexts(own), ...(Array.isArray(output) ? output.map((item) => JSON.stringify(item)) : [])].map(
    (text) => newItem(text, JSON.parse(text) as unknown),
  );
}

export const newItem = (text: string, item: unknown): TurnItem => ({
  text,
  id: stringAt(item, "id"),
  prefix: itemPrefix(isObject(item) ? item["type"] : undefined),
});

export function readState(body: JsonObject): StateWords {
  const references: string[] = [];
  for (const item of arrayAt(body, "input")) {
    const id = referenceOf(item);
    if (id !== undefined) references.push(id);
  }
  return {
    keep: body["store"] !== false,
    background: body["background"] === true,
    previous: stringAt(body, "previous_response_id"),
    conversation: namedConversation(body),
    references,
  };
}

/**
 * Puts the history before the request's own items, and replaces references with their items. Texts are concatenated without parsing them,
 * so that each item keeps its original bytes (H05).
 */
export function expand(request: ReceivedRequest, { turns, items }: FoundState): ExpandedRequest {
  const notes = new Notes();
  const span = findValue(request.text, ["input"]);
  const raw = span === undefined ? "" : request.text.slice(span.start, span.end);
  const own = ownItems(request.body["input"], raw, items, notes);
  if (turns.length === 0 && own === raw) return { request, own };
  if (turns.length === 0 && typeof request.body["input"] === "string") return { request, own };
  const history = turns.flatMap(({ input, answer }) => [input, outputOf(answer)]);
  const input = joinItems([...history, own]);
  const text =
    span === undefined
      ? new ObjectEdit(request.text).set("input", input).toString()
      : request.text.slice(0, span.start) + input + request.text.slice(span.end);
  const adapted = [...(request.adapted ?? []), ...notes.list];
  return { request: { text, body: { ...request.body, input: JSON.parse(input) as unknown }, adapted }, own };
}

/** The input as a list of items: text is a message. `raw` is its JSON. */
export function inputItems(input: unknown, raw: string): string {
  if (typeof input === "string") return `[{"type":"message","role":"user","content":${raw}}]`;
  return Array.isArray(input) ? raw : "[]";
}

/** Several lists of items as one. */
export const joinItems = (lists: readonly string[]): string =>
  `[${lists.map(withoutBrackets).filter(Boolean).join(",")}]`;

function ownItems(input: unknown, raw: string, items: FoundState["items"], notes: Notes): string {
  if (!Array.isArray(input) || !input.some((item) => referenceOf(item) !== undefined)) return inputItems(input, raw);
  const texts = elementTexts(raw).flatMap((text, index) => {
    const id = referenceOf(input[index]);
    if (id === undefined) return [text];
    const item = items.get(id);
    if (item !== undefined) return [item];
    notes.dropped(`input[${index}]`, "no item with this id is stored in this project");
    return [];
  });
  return `[${texts.join(",")}]`;
}

/** The list of items in a response. */
export function outputOf(answer: string): string {
  const span = findValue(answer, ["output"]);
  return span === undefined ? "[]" : answer.slice(span.start, span.end);
}

const withoutBrackets = (list: string): string => list.trim().slice(1, -1).trim();

/** The items of a response by id. */
export function itemsOf(answer: string): Map<string, string> {
  const items = new Map<string, string>();
  for (const text of elementTexts(outputOf(answer))) {
    const id = stringAt(JSON.parse(text) as unknown, "id");
    if (id !== undefined) items.set(id, text);
  }
  return items;
}
