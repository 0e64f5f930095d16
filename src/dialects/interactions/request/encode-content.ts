import type { JsonObject } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import {
  AT_TARGET,
  type MediaPart,
  type NativePart,
  type SearchResultPart,
  type TextPart,
} from "../../../canon/part.ts";
import { FILM_PAGE, guessMimeType } from "../../genai/media.ts";
import { OWN_ORIGIN as FILES_ORIGIN } from "../../genai/signature.ts";
import { headed, headerOf } from "../../request/document-text.ts";
import { OWN_ORIGIN } from "../signature.ts";
import { type EncodeScope, fieldPathOf, isOwn, noteCacheMark, pathOf } from "./encode-scope.ts";

/** One part of a turn as contents. It becomes several if this dialect has no field for some of it, and none if it is dropped. */
export function encodeContent(
  part: TextPart | MediaPart | SearchResultPart | NativePart,
  scope: EncodeScope,
): JsonObject[] {
  switch (part.type) {
    case "text":
      return encodeText(part, scope);
    case "media":
      return encodeMedia(part, scope);
    case "search-result": {
      noteCacheMark(part, scope);
      scope.notes.approximated(pathOf(part), "this protocol has no search results; sent as text and media");
      if (part.citations) {
        const path = fieldPathOf(scope, part, "citations");
        scope.notes.dropped(path, "this protocol cannot cite search results in the prompt");
      }
      const heading = [part.title, part.source].filter((line) => line !== undefined).join("\n");
      const content = part.content.flatMap((one) => encodeContent(one, scope));
      return heading === "" ? content : [{ type: "text", text: heading }, ...content];
    }
    case "native":
      if (part.dialect === OWN_ORIGIN) return [part.raw];
      scope.notes.dropped(pathOf(part), `only its own protocol has blocks of kind ${part.name}`);
      return [];
  }
}

function encodeText(part: TextPart, scope: EncodeScope): JsonObject[] {
  noteCacheMark(part, scope);
  if (part.citations !== undefined && part.citations.length > 0) {
    scope.notes.dropped(fieldPathOf(scope, part, "citations"), "this protocol does not accept citations in a prompt");
  }
  if (part.text === "") return [];
  return [{ type: "text", text: part.text, ...(isOwn(scope) ? part.extras : {}) }];
}

function encodeMedia(part: MediaPart, scope: EncodeScope): JsonObject[] {
  const { notes, context } = scope;
  noteCacheMark(part, scope);
  if (!context.quirks.media.includes(part.kind)) {
    notes.dropped(pathOf(part), `this provider does not accept ${part.kind} content`);
    return [];
  }
  const wire = encodeSource(part, scope);
  if (wire.length === 0) return [];
  if (part.citations) {
    notes.dropped(fieldPathOf(scope, part, "citations"), "this protocol cannot cite documents in the prompt");
  }
  if (part.source.type === "text") return wire;
  const header = headerOf(part);
  if (part.title !== undefined)
    notes.approximated(
      fieldPathOf(scope, part, "title"),
      "this protocol has no file names; sent as text before the file",
    );
  if (part.context !== undefined)
    notes.approximated(fieldPathOf(scope, part, "context"), "sent as text before the document");
  const before = header === "" ? [] : [{ type: "text", text: header }];
  const [first, ...rest] = wire;
  const side = { ...encodeDetail(part, scope), ...encodeClip(part), ...(isOwn(scope) ? part.extras : {}) };
  return [...before, { ...first, ...side }, ...rest];
}

function encodeSource(part: MediaPart, scope: EncodeScope): JsonObject[] {
  const { source, kind: type } = part;
  const { notes, context } = scope;
  switch (source.type) {
    case "data":
      return [{ type, data: source.data, mime_type: source.mimeType }];
    case "url": {
      if (!context.quirks.mediaUrls.includes(type) && !FILM_PAGE.test(source.url)) {
        notes.dropped(pathOf(part), `this provider does not fetch ${type} content from URLs`);
        return [];
      }
      const mime_type = source.mimeType ?? guessMimeType(source.url);
      return [{ type, uri: source.url, ...withoutAbsent({ mime_type }) }];
    }
    case "file": {
      // Both protocols of the vendor name the same uploaded files.
      if (source.origin !== context.origin && source.origin !== FILES_ORIGIN && source.origin !== AT_TARGET) {
        notes.dropped(pathOf(part), "the file is stored at another provider");
        return [];
      }
      const mime_type = source.mimeType ?? guessMimeType(source.id);
      return [{ type, uri: source.id, ...withoutAbsent({ mime_type }) }];
    }
    case "text": {
      if (isOwn(scope)) {
        const data = Buffer.from(source.text).toString("base64");
        return [{ type, data, mime_type: "text/plain", ...part.extras }];
      }
      notes.approximated(pathOf(part), "this protocol has no text documents; sent as text");
      return [{ type: "text", text: headed(part, source.text) }];
    }
    case "parts":
      notes.approximated(pathOf(part), "this protocol has no multi-part documents; the parts were sent one by one");
      return source.parts.flatMap((one) => encodeContent(one, scope));
  }
}

function encodeDetail(part: MediaPart, scope: EncodeScope): JsonObject {
  if (part.detail === undefined || part.detail === "auto") return {};
  if (part.kind === "image" || part.kind === "video") return { resolution: part.detail };
  scope.notes.dropped(fieldPathOf(scope, part, "detail"), `this protocol has no resolution of ${part.kind} content`);
  return {};
}

function encodeClip({ clip }: MediaPart): JsonObject {
  if (clip === undefined) return {};
  const { start: start_offset, end: end_offset, fps } = clip;
  return { processing: { type: "static", ...withoutAbsent({ start_offset, end_offset, fps }) } };
}
