import type { JsonObject } from "../../../base/json.ts";
import {
  AT_TARGET,
  type MediaPart,
  type MediaSource,
  type Part,
  type SearchResultPart,
  type TextPart,
} from "../../../canon/part.ts";
import { encodeBreakpoint } from "../../request/cache-breakpoints.ts";
import { documentText, headed, headerOf } from "../../request/document-text.ts";
import { isOwn, leaveOut, ownExtras, pathIn, type RequestScope, takesBreakpoints } from "./request-scope.ts";

/** Content of a user or system message, or of a tool result. */
export function encodeContent(parts: readonly Part[], scope: RequestScope): JsonObject[] {
  return parts.flatMap((part) => withMark(encodePart(part, scope), part, scope));
}

/** Sets the requested mark on the last part, if the provider accepts it. */
export function withMark(content: readonly JsonObject[], marked: Part, scope: RequestScope): readonly JsonObject[] {
  const { cache } = marked;
  const last = content.at(-1);
  if (cache === undefined) return content;
  if (last === undefined || !(isOwn(scope) || takesBreakpoints(scope))) {
    noteCache(marked, scope);
    return content;
  }
  const approximate = (reason: string) => scope.notes.approximated(pathIn(scope, marked, "cache"), reason);
  return content.with(-1, { ...last, ...encodeBreakpoint(cache, approximate) });
}

function encodePart(part: Part, scope: RequestScope): JsonObject[] {
  switch (part.type) {
    case "text":
      return [encodeText(part, scope)];
    case "media":
      return encodeMedia(part, scope);
    case "search-result":
      return [encodeSearchResult(part, scope)];
    case "native":
      if (part.dialect === "responses") return [part.raw];
      break;
    default:
      break;
  }
  leaveOut(part, scope);
  return [];
}

/** A plain string for a single text, which every provider accepts, or else a list. */
export function plainContent(content: readonly JsonObject[]): string | readonly JsonObject[] {
  const [only] = content;
  if (only === undefined) return "";
  return content.length === 1 && Object.keys(only).length === 2 && "text" in only ? String(only["text"]) : content;
}

function encodeText(part: TextPart, scope: RequestScope): JsonObject {
  if (part.signature !== undefined) {
    scope.notes.dropped(pathIn(scope, part, "signature"), "the signature belongs to another provider");
  }
  return { type: "input_text", text: part.text, ...ownExtras(scope, part.extras) };
}

/** Providers cache automatically, so only a requested lifetime is lost without a mark. */
export function noteCache(part: Part, scope: RequestScope): void {
  if (part.cache?.ttl === undefined) return;
  scope.notes.dropped(pathIn(scope, part, "cache"), "this provider decides how long to cache");
}

function encodeSearchResult(part: SearchResultPart, scope: RequestScope): JsonObject {
  scope.notes.approximated(part.path ?? part.type, "this protocol has no search results; sent as text");
  const heading = [part.title, part.source].filter((line) => line !== undefined && line !== "").join("\n");
  const texts: string[] = [];
  for (const inner of part.content) {
    if (inner.type === "text") texts.push(inner.text);
    else leaveOut(inner, scope);
  }
  return { type: "input_text", text: [heading, ...texts].filter((text) => text !== "").join("\n\n") };
}

/** Encodes media as content. What the provider cannot accept is left out and noted. */
function encodeMedia(part: MediaPart, scope: RequestScope): JsonObject[] {
  const { notes } = scope;
  const { kind, source } = part;
  if (part.citations) {
    notes.dropped(pathIn(scope, part, "citations"), "this provider does not cite documents in the prompt");
  }
  const text = documentText(part);
  if (text !== undefined) {
    notes.approximated(part.path ?? kind, "this protocol has no text documents; sent as plain text");
    return [{ type: "input_text", text: headed(part, text), ...ownExtras(scope, part.extras) }];
  }
  if (source.type === "parts") {
    notes.approximated(part.path ?? kind, "this protocol has no multi-part documents; the parts were sent one by one");
    const header = headerOf(part);
    const inner = encodeContent(source.parts, scope);
    return header === "" ? inner : [{ type: "input_text", text: header }, ...inner];
  }
  const wire = encodeSource(part, source, scope);
  if (wire === undefined) {
    notes.dropped(part.path ?? kind, `this provider does not accept ${kind} ${FORM_OF_SOURCE[source.type]}`);
    return [];
  }
  if (part.title !== undefined && !("filename" in wire)) {
    notes.dropped(pathIn(scope, part, "title"), "this protocol supports names only for documents sent as data");
  }
  if (part.clip !== undefined) notes.dropped(pathIn(scope, part, "clip"), "this provider does not support clips");
  const medium = { ...wire, ...ownExtras(scope, part.extras) };
  if (part.context === undefined) return [medium];
  notes.approximated(pathIn(scope, part, "context"), "sent as text before the document");
  return [{ type: "input_text", text: part.context }, medium];
}

const FORM_OF_SOURCE = { data: "data", url: "URLs", file: "file IDs", text: "text" } as const;

function encodeSource(
  part: MediaPart,
  source: Exclude<MediaSource, { type: "parts" }>,
  scope: RequestScope,
): JsonObject | undefined {
  const { media, mediaUrls } = scope.context.quirks;
  const { kind } = part;
  if (!media.includes(kind) || (kind !== "image" && kind !== "document") || source.type === "text") return undefined;
  if (source.type === "url" && !mediaUrls.includes(kind)) return undefined;
  // Both dialects of a provider share its files.
  if (
    source.type === "file" &&
    source.origin !== "responses" &&
    source.origin !== "chat" &&
    source.origin !== AT_TARGET
  )
    return undefined;
  if (kind === "image") return { type: "input_image", ...encodeImage(source), ...encodeDetail(part, scope) };
  if (source.type === "data") {
    return { type: "input_file", filename: filenameOf(part, source.mimeType), file_data: dataUrl(source) };
  }
  const named = isOwn(scope) && part.title !== undefined ? { filename: part.title } : {};
  return {
    type: "input_file",
    ...named,
    ...(source.type === "file" ? { file_id: source.id } : { file_url: source.url }),
  };
}

function encodeImage(source: Exclude<MediaSource, { type: "parts" | "text" }>): JsonObject {
  if (source.type === "file") return { file_id: source.id };
  return { image_url: source.type === "url" ? source.url : dataUrl(source) };
}

/** Providers reject plain base64. */
const dataUrl = ({ mimeType, data }: { mimeType: string; data: string }): string => `data:${mimeType};base64,${data}`;

function encodeDetail(part: MediaPart, scope: RequestScope): JsonObject {
  const { detail } = part;
  if (detail === undefined) return {};
  if (detail !== "medium" && detail !== "ultra_high") return { detail };
  const nearest = detail === "medium" ? "auto" : "high";
  const reason = `this protocol supports low, high and auto; ${nearest} was sent`;
  scope.notes.approximated(pathIn(scope, part, "detail"), reason);
  return { detail: nearest };
}

/** Providers require a name with a file's bytes, and detect the type by its extension. */
function filenameOf({ title = "document" }: MediaPart, mimeType: string): string {
  const ending = mimeType === "application/pdf" ? ".pdf" : "";
  return /\.\w{1,8}$/.test(title) ? title : title + ending;
}
