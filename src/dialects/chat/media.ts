import type { JsonObject } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { Fields } from "../../canon/fields.ts";
import { AT_TARGET, type MediaPart, type MediaSource } from "../../canon/part.ts";
import { documentText, headed, headerOf } from "../request/document-text.ts";
import { kindOfSource, sourceOfFile, sourceOfUrl } from "../request/media-source.ts";
import { takeCache, takeExtras, withExtras } from "./part-fields.ts";
import { cacheControl, ownExtras, pathIn, type RequestScope } from "./request/request-scope.ts";
import { encodeText } from "./text-part.ts";

const MIME_OF_FORMAT: ReadonlyMap<string, string> = new Map([
  ["wav", "audio/wav"],
  ["mp3", "audio/mpeg"],
]);
const FORMAT_OF_MIME: ReadonlyMap<string, string> = new Map([
  ["audio/wav", "wav"],
  ["audio/x-wav", "wav"],
  ["audio/wave", "wav"],
  ["audio/mpeg", "mp3"],
]);
/** A media part of this protocol, or undefined for any other type. */
export function decodeMedia(raw: unknown, path?: string): MediaPart | undefined {
  const fields = new Fields(raw);
  const type = fields.string("type");
  const inner = type === undefined ? undefined : fields.object(type);
  if (type === undefined || inner === undefined) return undefined;
  const innerFields = new Fields(inner);
  // Images in answers have an index.
  fields.skip("index");
  const found = MEDIA_READERS.get(type)?.(innerFields);
  if (found === undefined) return undefined;
  const located = path === undefined ? {} : { path };
  return { type: "media", ...found, ...located, ...takeCache(fields), ...takeExtras(fields, type, innerFields) };
}

type FoundMedia = Pick<MediaPart, "kind" | "source" | "detail" | "title">;

function readImage(fields: Fields): FoundMedia | undefined {
  const url = fields.string("url");
  const detail = fields.string("detail");
  if (url === undefined) return undefined;
  const known = detail === "low" || detail === "high" || detail === "auto" ? { detail } : {};
  return { kind: "image", source: sourceOfUrl(url), ...known } as FoundMedia;
}

function readVideo(fields: Fields): FoundMedia | undefined {
  const url = fields.string("url");
  return url === undefined ? undefined : { kind: "video", source: sourceOfUrl(url) };
}

function readAudio(fields: Fields): FoundMedia | undefined {
  const data = fields.string("data");
  const format = fields.string("format") ?? "wav";
  if (data === undefined) return undefined;
  return {
    kind: "audio",
    source: { type: "data", mimeType: MIME_OF_FORMAT.get(format) ?? `audio/${format}`, data },
  };
}

function readFile(fields: Fields): FoundMedia | undefined {
  const id = fields.string("file_id");
  const data = fields.string("file_data");
  const filename = fields.string("filename");
  const title = filename === undefined ? {} : { title: filename };
  if (data !== undefined) {
    const source = sourceOfFile(data, filename);
    return { kind: kindOfSource(source), source, ...title };
  }
  return id === undefined ? undefined : { kind: "document", source: { type: "file", id, origin: "chat" }, ...title };
}

const MEDIA_READERS: ReadonlyMap<string, (fields: Fields) => FoundMedia | undefined> = new Map([
  ["image_url", readImage],
  ["video_url", readVideo],
  ["input_audio", readAudio],
  ["file", readFile],
]);

const FORM_OF_SOURCE = {
  data: "data",
  url: "URLs",
  file: "file IDs",
  text: "text",
} as const;

/** Encodes media as content parts of a message. What the provider cannot accept is left out and noted. */
export function encodeMedia(part: MediaPart, scope: RequestScope): JsonObject[] {
  const { notes, context } = scope;
  const { kind, source } = part;
  if (part.citations) {
    notes.dropped(pathIn(scope, part, "citations"), "this provider does not cite documents in the prompt");
  }
  const text = documentText(part);
  if (text !== undefined) {
    notes.approximated(part.path ?? kind, "this protocol has no text documents; sent as plain text");
    const { path, cache, extras } = part;
    return [encodeText({ type: "text", text: headed(part, text), ...withoutAbsent({ path, cache, extras }) }, scope)];
  }
  if (source.type === "parts") {
    notes.approximated(part.path ?? kind, "this protocol has no multi-part documents; the parts were sent one by one");
    const header = headerOf(part);
    const inner = source.parts.flatMap((one) =>
      one.type === "text" ? [encodeText(one, scope)] : encodeMedia(one, scope),
    );
    return header === "" ? inner : [{ type: "text", text: header }, ...inner];
  }
  const wire = context.quirks.media.includes(kind) ? encodeSource(part, source, scope) : undefined;
  if (wire === undefined) {
    notes.dropped(part.path ?? kind, `this provider does not accept ${kind} ${FORM_OF_SOURCE[source.type]}`);
    return [];
  }
  if (part.clip !== undefined) {
    notes.dropped(pathIn(scope, part, "clip"), "this provider does not support video clips");
  }
  const marked = withExtras({ ...wire, ...cacheControl(scope, part) }, ownExtras(scope, part.extras));
  if (part.context === undefined) return [marked];
  notes.approximated(pathIn(scope, part, "context"), "sent as text before the document");
  return [{ type: "text", text: part.context }, marked];
}

function encodeSource(
  part: MediaPart,
  source: Exclude<MediaSource, { type: "parts" }>,
  scope: RequestScope,
): JsonObject | undefined {
  const { kind } = part;
  if (source.type === "text") return undefined;
  if (source.type === "file") {
    return source.origin === "chat" || source.origin === AT_TARGET
      ? { type: "file", file: { file_id: source.id, ...filenameOf(part) } }
      : undefined;
  }
  if (part.title !== undefined && kind !== "document") {
    scope.notes.dropped(pathIn(scope, part, "title"), "this protocol supports names only for documents");
  }
  if (kind === "image" || kind === "video") {
    if (source.type === "url" && !scope.context.quirks.mediaUrls.includes(kind)) return undefined;
    const type = kind === "image" ? "image_url" : "video_url";
    return { type, [type]: { url: urlOf(source), ...(kind === "image" ? detailOf(part, scope) : {}) } };
  }
  if (kind === "audio") {
    if (source.type === "url" && !scope.context.quirks.mediaUrls.includes(kind)) return undefined;
    return {
      type: "input_audio",
      input_audio: { data: source.type === "url" ? source.url : source.data, ...formatOf(source) },
    };
  }
  // Documents cannot be sent by URL.
  if (source.type === "url") return undefined;
  return { type: "file", file: { ...filenameOf(part, source.mimeType), file_data: urlOf(source) } };
}

/** The format comes from the URL's suffix if nothing else provides it. */
function formatOf(source: Extract<MediaSource, { type: "url" | "data" }>): { format: string } {
  const { mimeType } = source;
  if (mimeType !== undefined) return { format: FORMAT_OF_MIME.get(mimeType) ?? mimeType.replace(/^audio\//, "") };
  return { format: source.type === "url" ? (/\.(\w+)(?:[?#]|$)/.exec(source.url)?.[1] ?? "wav") : "wav" };
}

function urlOf(source: Extract<MediaSource, { type: "url" | "data" }>): string {
  return source.type === "url" ? source.url : `data:${source.mimeType};base64,${source.data}`;
}

function detailOf(part: MediaPart, scope: RequestScope): JsonObject {
  const { detail } = part;
  if (detail === undefined) return {};
  if (detail !== "medium" && detail !== "ultra_high") return { detail };
  const nearest = detail === "medium" ? "auto" : "high";
  scope.notes.approximated(
    pathIn(scope, part, "detail"),
    `this protocol supports low, high and auto; ${nearest} was sent`,
  );
  return { detail: nearest };
}

/** Providers require a name with a file's bytes, and detect the type by its extension. */
function filenameOf({ title }: MediaPart, mimeType?: string): JsonObject {
  if (mimeType === undefined) return title === undefined ? {} : { filename: title };
  const ending = mimeType === "application/pdf" ? ".pdf" : "";
  if (title === undefined) return { filename: `document${ending}` };
  return { filename: /\.\w{1,8}$/.test(title) ? title : `${title}${ending}` };
}
