import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from "../../../base/json.ts";
import { WEB_SEARCH } from "../../../canon/billable.ts";
import type { WebCitation } from "../../../canon/citation.ts";
import type { MediaPart, NativePart, TextPart, WebPage } from "../../../canon/part.ts";
import type { ReplyPart } from "../../../canon/reply.ts";
import { answerNote } from "../../answer/answer-note.ts";
import { argumentsText } from "../../answer/arguments-text.ts";
import { readQueries, writeQueries } from "../../answer/search-queries.ts";
import { citationWithin, decodeAnnotation } from "../../answer/url-citation.ts";
import type { DecodeAnswerContext } from "../../codec.ts";
import { decodeReasoningItem } from "./reasoning.ts";

export type ItemContext = Pick<DecodeAnswerContext, "origin" | "makeId" | "note">;

/** One item of a response. Items that exist only in this dialect stay as they are, and are returned to their provider. */
export function decodeItem(item: JsonObject, context: ItemContext): ReplyPart[] {
  switch (stringAt(item, "type")) {
    case "message":
      return arrayAt(item, "content")
        .filter(isObject)
        .map((part) => decodeMessagePart(part, context.note))
        .filter(saysSomething);
    case "reasoning":
      return [decodeReasoningItem(item, { origin: context.origin, fromClient: false })].filter(saysSomething);
    case "function_call":
      return [{ type: "tool-call", ...decodeCallHead(item, context.makeId), input: argumentsOf(item) }];
    case "custom_tool_call":
      return [{ type: "tool-call", ...decodeCallHead(item, context.makeId), input: inputOf(item), custom: true }];
    case "web_search_call":
      return decodeSearch(item) ?? [nativeItem(item)];
    case "image_generation_call":
      return [decodeImage(item) ?? nativeItem(item)];
    default:
      return [nativeItem(item)];
  }
}

/** False for a part that was opened without content, and for hidden reasoning. */
const saysSomething = (part: ReplyPart): boolean =>
  !("text" in part) || part.text !== "" || part.signature !== undefined;

/** Results refer to their calls by `call_id`, which differs from the item's own id. */
export const decodeCallHead = (item: JsonObject, makeId: () => string): { id: string; name: string } => ({
  id: stringAt(item, "call_id") || stringAt(item, "id") || `call_${makeId()}`,
  name: stringAt(item, "name") ?? "",
});

export const argumentsOf = (item: JsonObject): string => argumentsText(item["arguments"]);

export const inputOf = (item: JsonObject): string => stringAt(item, "input") ?? "";

const nativeItem = (item: JsonObject): NativePart => ({
  type: "native",
  dialect: "responses",
  name: stringAt(item, "type") ?? "",
  raw: item,
});

function decodeMessagePart(part: JsonObject, note: ItemContext["note"]): ReplyPart {
  const type = stringAt(part, "type");
  if (type === "refusal") return { type: "refusal", text: stringAt(part, "refusal") ?? "" };
  if (type === "output_text" || type === "text") return decodeText(part, note);
  return { type: "native", dialect: "responses", name: type ?? "", raw: part };
}

function decodeText(part: JsonObject, note: ItemContext["note"]): TextPart {
  const text = stringAt(part, "text") ?? "";
  const citations = citationsOf(part, text.length, note);
  return { type: "text", text, ...(citations.length > 0 ? { citations } : {}) };
}

/** Citations of web pages. Files of a provider cannot be cited in other dialects, and are noted. */
export const citationsOf = (part: JsonObject, length: number, note: ItemContext["note"]): WebCitation[] =>
  arrayAt(part, "annotations").flatMap((raw) => {
    const citation = readAnnotation(raw, note);
    return (citation && citationWithin(citation, 0, length)) ?? [];
  });

export function readAnnotation(raw: unknown, note: ItemContext["note"]): WebCitation | undefined {
  const citation = decodeAnnotation(raw);
  if (citation === undefined) note?.(OF_FILES);
  return citation;
}

const OF_FILES = answerNote("citations", "dropped", "other protocols cannot cite files stored by a provider");

/** A search as a call and its result. Opening a page, or searching in it, exists only in this dialect. */
function decodeSearch(item: JsonObject): ReplyPart[] | undefined {
  const action = objectAt(item, "action");
  const kind = stringAt(action, "type");
  const queries = readQueries(action);
  const id = stringAt(item, "id");
  if (!id || queries.length === 0 || (kind !== undefined && kind !== "search")) return undefined;
  const failed = stringAt(item, "status") === "failed";
  const pages = [...arrayAt(action, "sources"), ...arrayAt(item, "results")].flatMap(decodePage);
  return [
    { type: "server-tool-call", id, name: WEB_SEARCH, input: writeQueries(queries) },
    { type: "server-tool-result", callId: id, name: WEB_SEARCH, result: failed ? { error: "unavailable" } : { pages } },
  ];
}

function decodePage(source: unknown): WebPage[] {
  const url = stringAt(source, "url");
  const title = stringAt(source, "title");
  return url === undefined ? [] : [{ url, ...(title ? { title } : {}) }];
}

/** An image that the model created with a hosted tool. */
function decodeImage(item: JsonObject): MediaPart | undefined {
  const data = stringAt(item, "result");
  if (!data) return undefined;
  const mimeType = `image/${stringAt(item, "output_format") ?? "png"}`;
  return { type: "media", kind: "image", source: { type: "data", mimeType, data } };
}
