import { arrayAt, isObject, type JsonObject, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { Fields } from "../../canon/fields.ts";
import type { Part, SearchResultPart, TextPart } from "../../canon/part.ts";
import { decodeMedia, encodeMedia } from "./media.ts";
import { takeCache, takeExtras } from "./part-fields.ts";
import { cacheControl, type RequestScope } from "./request/request-scope.ts";
import { encodeText } from "./text-part.ts";

/** A message's content: a text or a list of parts. An empty text is not a part. */
export function decodeContent(content: unknown, path?: string): Part[] {
  if (typeof content === "string") return content === "" ? [] : [textPart(content, path)];
  if (!Array.isArray(content)) return [];
  return content.map((part, index) => decodePart(part, path === undefined ? undefined : `${path}[${index}]`));
}

function textPart(text: string, path: string | undefined): TextPart {
  return { type: "text", text, ...withoutAbsent({ path }) };
}

function decodePart(raw: unknown, path: string | undefined): Part {
  const fields = new Fields(raw);
  const type = fields.string("type") ?? "";
  const located = path === undefined ? {} : { path };
  if (type === "text") {
    const text = fields.string("text") ?? "";
    return { ...textPart(text, path), ...takeCache(fields), ...takeExtras(fields) };
  }
  if (type === "refusal") {
    return { type: "refusal", text: fields.string("refusal") ?? "", ...located, ...takeExtras(fields) };
  }
  if (type === "thinking") return { type: "reasoning", text: thinkingText(fields.take("thinking")), ...located };
  const media = decodeMedia(raw, path);
  return media ?? { type: "native", dialect: "chat", name: type, raw: isObject(raw) ? raw : {}, ...located };
}

/** One provider puts reasoning into the content, as text or as a list of texts. */
function thinkingText(thinking: unknown): string {
  if (typeof thinking === "string") return thinking;
  return arrayAt({ thinking }, "thinking")
    .map((chunk) => stringAt(chunk, "text") ?? "")
    .join("");
}

/** Content parts of a user message, in order. */
export function encodeParts(parts: readonly Part[], scope: RequestScope): JsonObject[] {
  return parts.flatMap((part) => {
    switch (part.type) {
      case "text":
        return [encodeText(part, scope)];
      case "media":
        return encodeMedia(part, scope);
      case "search-result":
        return [encodeSearchResult(part, scope)];
      case "native":
        if (part.dialect === "chat") return [part.raw];
        break;
      default:
        break;
    }
    leaveOut(part, scope);
    return [];
  });
}

export function leaveOut(part: Part, scope: RequestScope): void {
  const what = part.type === "native" ? part.name : part.type;
  scope.notes.dropped(part.path ?? what, `this provider's protocol has no equivalent (${what})`);
}

export function encodeSearchResult(part: SearchResultPart, scope: RequestScope): JsonObject {
  scope.notes.approximated(part.path ?? part.type, "this protocol has no search results; sent as text");
  const heading = [part.title, part.source].filter((line) => line !== undefined && line !== "");
  const texts = part.content.flatMap((inner) => {
    if (inner.type === "text") return [inner.text];
    leaveOut(inner, scope);
    return [];
  });
  const text = [heading.join("\n"), ...texts].filter((chunk) => chunk !== "").join("\n\n");
  return { type: "text", text, ...cacheControl(scope, part) };
}

/** A plain string for a single text, which every provider accepts, or else a list. */
export function plainContent(parts: readonly JsonObject[]): string | readonly JsonObject[] {
  const [only] = parts;
  if (only === undefined) return "";
  return parts.length === 1 && isPlainText(only) ? String(only["text"]) : parts;
}

/** The same for roles whose content many providers require to be a string: several texts are joined. */
export function joinedContent(parts: readonly JsonObject[], separator: string): string | readonly JsonObject[] {
  return parts.every(isPlainText) ? parts.map((part) => String(part["text"])).join(separator) : parts;
}

function isPlainText(part: JsonObject): boolean {
  return part["type"] === "text" && Object.keys(part).length === 2;
}
