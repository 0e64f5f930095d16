import { isObject } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import type { Citation } from "../../../canon/citation.ts";
import { Fields } from "../../../canon/fields.ts";
import type { NativePart, Part, RefusalPart, TextPart, ToolResultPart } from "../../../canon/part.ts";
import { citationWithin, decodeAnnotation } from "../../answer/url-citation.ts";
import { takeBreakpoint } from "../../request/cache-breakpoints.ts";
import { decodeMedia } from "./media.ts";
import { elsewhereOf } from "./native-words.ts";

/** The types differ only in which side wrote the text, and clients mix them up. */
const TEXT_TYPES: ReadonlySet<string> = new Set(["input_text", "output_text", "text"]);

/** The content of a message or of a tool's output: a text or parts. An empty text is not a part. */
export function decodeContent(content: unknown, path: string): Part[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content, path }];
  if (!Array.isArray(content)) return [];
  return content.map((part, index) => decodePart(part, `${path}[${index}]`));
}

function decodePart(raw: unknown, path: string): Part {
  const fields = new Fields(raw);
  const type = fields.string("type") ?? "";
  const found = TEXT_TYPES.has(type) ? decodeText(fields, path) : decodeOther(type, fields, path);
  if (found === undefined) return decodeMedia(raw, path) ?? nativePart(raw, type, path);
  const cache = takeBreakpoint(fields);
  const extras = fields.rest();
  return { ...found, ...cache, ...withoutAbsent({ extras }) };
}

/** Annotations other than web citations stay as they are, only for providers of this protocol. */
function decodeText(fields: Fields, path: string): TextPart | undefined {
  const text = fields.string("text");
  if (text === undefined) return undefined;
  fields.skip("logprobs");
  const read = new Fields({ annotations: fields.take("annotations") });
  const cited = (read.array("annotations") ?? []).map((raw) => citationOf(raw, text));
  const citations = cited.filter((citation): citation is Citation => citation !== undefined);
  return { type: "text", text, ...(citations.length === 0 ? {} : { citations }), path };
}

function citationOf(raw: unknown, text: string): Citation | undefined {
  const citation = isObject(raw) && raw["type"] === "url_citation" ? decodeAnnotation(raw) : undefined;
  return citation && citationWithin(citation, 0, text.length);
}

function decodeOther(type: string, fields: Fields, path: string): RefusalPart | undefined {
  const refusal = type === "refusal" ? fields.string("refusal") : undefined;
  return refusal === undefined ? undefined : { type: "refusal", text: refusal, path };
}

/** An item or part that exists only in this protocol. */
export function nativePart(raw: unknown, name: string, path: string): NativePart {
  const item = isObject(raw) ? raw : {};
  const elsewhere = elsewhereOf(name, item);
  return {
    type: "native",
    dialect: "responses",
    name,
    raw: item,
    ...(elsewhere && { elsewhere }),
    path,
  };
}

/** Whether a tool's output can contain the part. */
export const isResultContent = (part: Part): part is ToolResultPart["content"][number] =>
  part.type === "text" || part.type === "media" || part.type === "native";
