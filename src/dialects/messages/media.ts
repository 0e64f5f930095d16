import { arrayAt, type JsonObject, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { Fields } from "../../canon/fields.ts";
import { AT_TARGET, type MediaPart, type MediaSource, type Part, type TextPart } from "../../canon/part.ts";
import { OWN_ORIGIN } from "./opaque-values.ts";

type DecodeInner = (value: unknown, path: string) => Part;

export function decodeImage(fields: Fields): MediaPart | undefined {
  const source = decodeSource(fields);
  return source && { type: "media", kind: "image", source };
}

/** `decodeInner` reads the blocks that a document can consist of. */
export function decodeDocument(fields: Fields, path: string, decodeInner: DecodeInner): MediaPart | undefined {
  const source = decodeSource(fields) ?? decodeInnerBlocks(fields, path, decodeInner);
  if (source === undefined) return undefined;
  const title = fields.string("title");
  const context = fields.string("context");
  const citations = decodeCitationSwitch(fields);
  return withoutAbsent({ type: "media" as const, kind: "document" as const, source, title, context, citations });
}

export function decodeCitationSwitch(fields: Fields): boolean | undefined {
  const enabled = fields.object("citations")?.["enabled"];
  return typeof enabled === "boolean" ? enabled : undefined;
}

function decodeSource(fields: Fields): MediaSource | undefined {
  const source = fields.object("source");
  const data = stringAt(source, "data");
  const mimeType = stringAt(source, "media_type");
  const url = stringAt(source, "url");
  const id = stringAt(source, "file_id");
  switch (stringAt(source, "type")) {
    case "base64":
      return data !== undefined && mimeType !== undefined ? { type: "data", mimeType, data } : undefined;
    case "text":
      return data === undefined ? undefined : { type: "text", text: data };
    case "url":
      return url === undefined ? undefined : { type: "url", url };
    case "file":
      return id === undefined ? undefined : { type: "file", id, origin: OWN_ORIGIN };
    default:
      return undefined;
  }
}

function decodeInnerBlocks(fields: Fields, path: string, decodeInner: DecodeInner): MediaSource | undefined {
  const source = fields.object("source");
  if (stringAt(source, "type") !== "content") return undefined;
  const where = `${path}.source.content`;
  const text = stringAt(source, "content");
  if (text !== undefined) return { type: "parts", parts: [{ type: "text", text, path: where }] };
  const parts = arrayAt(source, "content").map((value, index) => decodeInner(value, `${where}[${index}]`));
  return parts.every((part): part is TextPart | MediaPart => part.type === "text" || part.type === "media")
    ? { type: "parts", parts }
    : undefined;
}

const IMAGE_TYPES: readonly string[] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/** Documents that are text although their type is not `text/…`. */
const TEXT_TYPES = /^(?:text\/.*|application\/(?:(?:.*\+)?(?:json|xml)|javascript|yaml|x-yaml|csv))$/;

/** The block's `source`, or the reason why it has none. */
type EncodedSource = { kind: "image" | "document"; source: JsonObject } | { reason: string };

/** `encodeInner` writes the parts that a document consists of. */
export function encodeSource(
  { kind, source }: MediaPart,
  target: { origin: string; urls: readonly string[] },
  encodeInner: (part: TextPart | MediaPart) => readonly JsonObject[],
): EncodedSource {
  if (kind === "audio" || kind === "video") return { reason: `this protocol does not support ${kind}` };
  switch (source.type) {
    case "data":
      return encodeData(kind, source);
    case "url":
      return target.urls.includes(kind)
        ? { kind, source: { type: "url", url: source.url } }
        : { reason: "this provider does not fetch URLs, and the gateway could not fetch it" };
    case "file":
      return source.origin === target.origin || source.origin === AT_TARGET
        ? { kind, source: { type: "file", file_id: source.id } }
        : { reason: "the file is stored at another provider" };
    case "text":
      return textSource(source.text);
    case "parts":
      return { kind: "document", source: { type: "content", content: source.parts.flatMap(encodeInner) } };
    default:
      return source satisfies never;
  }
}

/** The type of the data decides: an image may arrive as a file, but the model only sees it as an image. */
function encodeData(kind: "image" | "document", source: Extract<MediaSource, { type: "data" }>): EncodedSource {
  const [named = ""] = source.mimeType.toLowerCase().split(";");
  const mimeType = named.trim() === "image/jpg" ? "image/jpeg" : named.trim();
  const encoded = { type: "base64", media_type: mimeType, data: source.data };
  if (IMAGE_TYPES.includes(mimeType)) return { kind: "image", source: encoded };
  if (mimeType === "application/pdf") return { kind: "document", source: encoded };
  if (kind === "document" && TEXT_TYPES.test(mimeType)) {
    return textSource(Buffer.from(source.data, "base64").toString());
  }
  return { reason: `this provider accepts PNG, JPEG, GIF and WebP images, PDF and text, not ${source.mimeType}` };
}

const textSource = (text: string): EncodedSource =>
  text.trim() === ""
    ? { reason: "this provider rejects empty documents" }
    : { kind: "document", source: { type: "text", media_type: "text/plain", data: text } };
