import { isObject, type JsonObject } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { Fields } from "../../canon/fields.ts";
import { AT_TARGET, type MediaKind, type MediaPart, type MediaSource } from "../../canon/part.ts";
import { leftOver, restoreExtras } from "./part-extras.ts";
import { type EncodeScope, fieldPathOf, noteCacheMark, pathOf, upstreamSignature } from "./request/encode-scope.ts";
import { OWN_ORIGIN, type PartSource, readSignature } from "./signature.ts";

const TYPE_OF_EXTENSION: ReadonlyMap<string, string> = new Map([
  ["png", "image/png"],
  ["jpg", "image/jpeg"],
  ["jpeg", "image/jpeg"],
  ["webp", "image/webp"],
  ["gif", "image/gif"],
  ["heic", "image/heic"],
  ["heif", "image/heif"],
  ["pdf", "application/pdf"],
  ["txt", "text/plain"],
  ["md", "text/markdown"],
  ["csv", "text/csv"],
  ["html", "text/html"],
  ["mp3", "audio/mpeg"],
  ["wav", "audio/wav"],
  ["ogg", "audio/ogg"],
  ["flac", "audio/flac"],
  ["aac", "audio/aac"],
  ["mp4", "video/mp4"],
  ["mpeg", "video/mpeg"],
  ["mpg", "video/mpg"],
  ["mov", "video/mov"],
  ["avi", "video/avi"],
  ["wmv", "video/wmv"],
  ["flv", "video/flv"],
  ["webm", "video/webm"],
]);

const DEFAULT_TYPE: Readonly<Record<MediaKind, string>> = {
  image: "image/jpeg",
  document: "application/pdf",
  audio: "audio/mpeg",
  video: "video/mp4",
};

const RESOLUTION = "MEDIA_RESOLUTION_";
const DETAIL_OF_LEVEL: ReadonlyMap<string, MediaPart["detail"]> = new Map([
  ["LOW", "low"],
  ["MEDIUM", "medium"],
  ["HIGH", "high"],
  ["ULTRA_HIGH", "ultra_high"],
  ["UNSPECIFIED", "auto"],
]);

/** Video pages that the provider opens itself and that cannot be fetched. */
export const FILM_PAGE = /^https:\/\/(?:[a-z]+\.)?(?:youtube\.com|youtu\.be)\//i;
/** Files that were uploaded to the provider. */
const OWN_FILE = /^(?:gs:|https:\/\/[a-z]+\.googleapis\.com\/(?:[^?#]*\/)?files\/|files\/)/i;

function kindOfMimeType(mimeType: string): MediaKind {
  const family = mimeType.slice(0, mimeType.indexOf("/")).toLowerCase();
  return family === "image" || family === "audio" || family === "video" ? family : "document";
}

export function guessMimeType(url: string): string | undefined {
  const extension = /\.([a-z0-9]+)(?:[?#].*)?$/i.exec(url)?.[1]?.toLowerCase();
  return extension === undefined ? undefined : TYPE_OF_EXTENSION.get(extension);
}

/** A part with inlineData or fileData; undefined for any other. */
export function decodeMedia(raw: JsonObject, source: PartSource): MediaPart | undefined {
  const outer = new Fields(raw);
  const name = raw["inlineData"] === undefined ? "fileData" : "inlineData";
  const data = outer.object(name);
  if (data === undefined) return undefined;
  const inner = new Fields(data);
  const found = name === "inlineData" ? readInline(inner, source) : readFile(inner);
  const title = inner.string("displayName");
  const clip = readClip(raw, outer);
  const detail = readDetail(raw, outer);
  return withoutAbsent({
    type: "media" as const,
    ...found,
    path: source.path,
    title,
    titlePath: title === undefined || source.path === undefined ? undefined : `${source.path}.${name}.displayName`,
    clip,
    detail,
    ...readSignature(outer.string("thoughtSignature"), source),
    ...leftOver(outer, { name, fields: inner }),
  });
}

function readInline(inline: Fields, { fromClient }: PartSource): Pick<MediaPart, "kind" | "source"> {
  const mimeType = inline.string("mimeType") ?? "application/octet-stream";
  return { kind: kindOfMimeType(mimeType), source: inlineSource(mimeType, inline.string("data") ?? "", fromClient) };
}

export function inlineSource(mimeType: string, data: string, fromClient: boolean): MediaSource {
  const text = fromClient && mimeType === "text/plain" ? utf8Of(data) : undefined;
  return text === undefined ? { type: "data", mimeType, data } : { type: "text", text };
}

/** Plain text as text, which more targets accept than a text file. */
function utf8Of(base64: string): string | undefined {
  const text = Buffer.from(base64, "base64").toString();
  return Buffer.from(text).toString("base64") === base64 ? text : undefined;
}

function readFile(file: Fields): Pick<MediaPart, "kind" | "source"> {
  const url = file.string("fileUri") ?? "";
  const mimeType = file.string("mimeType");
  const guessed = mimeType ?? guessMimeType(url) ?? (FILM_PAGE.test(url) ? DEFAULT_TYPE.video : DEFAULT_TYPE.document);
  return { kind: kindOfMimeType(guessed), source: sourceOfUri(url, mimeType) };
}

/** A public URL, or a file that was uploaded to the provider. */
export function sourceOfUri(url: string, mimeType: string | undefined): MediaSource {
  const reported = mimeType === undefined ? {} : { mimeType };
  return OWN_FILE.test(url) || !/^https?:/i.test(url)
    ? { type: "file", id: url, origin: OWN_ORIGIN, ...reported }
    : { type: "url", url, ...reported };
}

/** Read only if nothing would be lost: with unknown fields, the whole object goes to the extras. */
function readClip(raw: JsonObject, part: Fields): MediaPart["clip"] {
  const metadata = new Fields(raw["videoMetadata"]);
  const start = metadata.string("startOffset");
  const end = metadata.string("endOffset");
  const fps = metadata.number("fps");
  if (!isObject(raw["videoMetadata"]) || metadata.rest() !== undefined) return undefined;
  part.skip("videoMetadata");
  return withoutAbsent({ start, end, fps });
}

function readDetail(raw: JsonObject, part: Fields): MediaPart["detail"] {
  const resolution = new Fields(raw["mediaResolution"]);
  const level = resolution.string("level")?.replace(RESOLUTION, "");
  const detail = level === undefined ? undefined : DETAIL_OF_LEVEL.get(level);
  if (detail === undefined || resolution.rest() !== undefined) return undefined;
  part.skip("mediaResolution");
  return detail;
}

/** The newest models accept it for single parts, all models for a whole request; undefined for the default. */
export function encodeDetail(detail: MediaPart["detail"]): string | undefined {
  return detail === undefined || detail === "auto" ? undefined : RESOLUTION + detail.toUpperCase();
}

/** An image or a document of the prompt. It may become several parts if this dialect has no field for some of it. */
export function encodeMedia(part: MediaPart, scope: EncodeScope): JsonObject[] {
  const { notes, context, call } = scope;
  noteCacheMark(part, scope);
  if (!context.quirks.media.includes(part.kind)) {
    notes.dropped(pathOf(part), `this provider does not accept ${part.kind} content`);
    return [];
  }
  const wire = encodeSource(part, scope);
  if (wire.length === 0) return [];
  if (part.citations)
    notes.dropped(fieldPathOf(scope, part, "citations"), "this protocol cannot cite documents in the prompt");
  if (part.context !== undefined) {
    notes.approximated(fieldPathOf(scope, part, "context"), "sent as text before the document");
  }
  // Details from other protocols go into the resolution of the whole request (generation-config.ts).
  const level = call.dialect === "genai" ? encodeDetail(part.detail) : undefined;
  const { start, end, fps } = part.clip ?? {};
  const side = {
    ...(part.clip === undefined
      ? {}
      : {
          videoMetadata: withoutAbsent({ startOffset: start, endOffset: end, fps }),
        }),
    ...(level === undefined ? {} : { mediaResolution: { level } }),
    ...upstreamSignature(part, scope),
  };
  const [first, ...rest] = wire;
  const own = call.dialect === "genai" ? restoreExtras({ ...first, ...side }, part.extras) : { ...first, ...side };
  return [...(part.context === undefined ? [] : [{ text: part.context }]), own, ...rest];
}

function encodeSource(part: MediaPart, scope: EncodeScope): JsonObject[] {
  const { source, title, kind } = part;
  const { notes, context } = scope;
  switch (source.type) {
    case "data":
      return [{ inlineData: { mimeType: source.mimeType, data: source.data, ...encodeTitle(part, scope) } }];
    case "url": {
      if (!context.quirks.mediaUrls.includes(kind) && !FILM_PAGE.test(source.url)) {
        notes.dropped(pathOf(part), `this provider does not fetch ${kind} content from URLs`);
        return [];
      }
      return [{ fileData: { ...typeOfUrl(part, source, scope), fileUri: source.url, ...encodeTitle(part, scope) } }];
    }
    case "file": {
      if (source.origin !== context.origin && source.origin !== AT_TARGET) {
        notes.dropped(pathOf(part), "the file is stored at another provider");
        return [];
      }
      const mimeType = source.mimeType ?? guessMimeType(source.id);
      const reported = mimeType === undefined ? {} : { mimeType };
      return [{ fileData: { ...reported, fileUri: source.id, ...encodeTitle(part, scope) } }];
    }
    case "text": {
      if (title === undefined || context.quirks.labels) {
        const data = Buffer.from(source.text).toString("base64");
        return [{ inlineData: { mimeType: "text/plain", data, ...encodeTitle(part, scope) } }];
      }
      notes.approximated(pathOf(part), "sent as text below its title");
      return [{ text: `${title}\n\n${source.text}` }];
    }
    case "parts": {
      notes.approximated(pathOf(part), "this protocol has no multi-part documents; the parts were sent one by one");
      const inner = source.parts.flatMap((one) =>
        one.type === "text" ? (one.text === "" ? [] : [{ text: one.text }]) : encodeMedia(one, scope),
      );
      return title === undefined ? inner : [{ text: title }, ...inner];
    }
  }
}

function typeOfUrl(part: MediaPart, source: MediaSource & { type: "url" }, scope: EncodeScope): JsonObject {
  const mimeType = source.mimeType ?? guessMimeType(source.url);
  if (mimeType !== undefined) return { mimeType };
  // A client of this protocol omitted it on purpose: video pages do not need it.
  if (scope.call.dialect === "genai") return {};
  const usual = DEFAULT_TYPE[part.kind];
  scope.notes.approximated(pathOf(part), `the URL does not show its media type; ${usual} was assumed`);
  return { mimeType: usual };
}

/** Hosts that accept labels accept file names too. Others reject them as unknown. */
function encodeTitle(part: MediaPart, scope: EncodeScope): JsonObject {
  if (part.title === undefined) return {};
  if (scope.context.quirks.labels) return { displayName: part.title };
  scope.notes.dropped(fieldPathOf(scope, part, "title"), "this provider does not accept file names");
  return {};
}
