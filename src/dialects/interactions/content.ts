import { isObject, type JsonObject, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { Fields } from "../../canon/fields.ts";
import type { MediaKind, MediaPart, NativePart, TextPart } from "../../canon/part.ts";
import { inlineSource, sourceOfUri } from "../genai/media.ts";
import { OWN_ORIGIN } from "./signature.ts";

const KINDS: ReadonlySet<string> = new Set<MediaKind>(["image", "audio", "document", "video"]);
const isMediaKind = (type: string): type is MediaKind => KINDS.has(type);

const DETAILS: readonly MediaPart["detail"][] = ["low", "medium", "high", "ultra_high"];

/** One content of a step. A kind that is unknown here stays as it is. */
export function decodeContent(raw: JsonObject, path: string | undefined, fromClient: boolean) {
  const type = stringAt(raw, "type") ?? "";
  const located = path === undefined ? {} : { path };
  if (type === "text") return decodeText(raw, located);
  if (isMediaKind(type)) return decodeMedia(raw, type, located, fromClient);
  return { type: "native", dialect: OWN_ORIGIN, name: type, raw, ...located } satisfies NativePart;
}

/** A list of contents. */
export const decodeContents = (list: unknown, path: string, fromClient: boolean) =>
  (Array.isArray(list) ? (list as unknown[]) : []).flatMap((raw, index) =>
    isObject(raw) ? [decodeContent(raw, `${path}[${index}]`, fromClient)] : [],
  );

function decodeText(raw: JsonObject, located: { path?: string }): TextPart {
  const fields = new Fields(raw);
  fields.skip("type");
  const text = fields.string("text") ?? "";
  const extras = fields.rest();
  return { type: "text", text, ...located, ...withoutAbsent({ extras }) };
}

function decodeMedia(raw: JsonObject, kind: MediaKind, located: { path?: string }, fromClient: boolean): MediaPart {
  const fields = new Fields(raw);
  fields.skip("type");
  const mimeType = fields.string("mime_type");
  const data = fields.string("data");
  const uri = data === undefined ? fields.string("uri") : undefined;
  const source =
    uri === undefined
      ? inlineSource(mimeType ?? "application/octet-stream", data ?? "", fromClient && kind === "document")
      : sourceOfUri(uri, mimeType);
  const detail = DETAILS.find((level) => level === raw["resolution"]);
  if (detail !== undefined) fields.skip("resolution");
  const clip = decodeClip(fields);
  const extras = fields.rest();
  return { type: "media", kind, source, ...located, ...withoutAbsent({ detail, clip, extras }) };
}

/** Read only if nothing would be lost: with unknown members, the whole object goes to the extras. */
function decodeClip(media: Fields): MediaPart["clip"] {
  const raw = media.peek("processing");
  const processing = new Fields(raw);
  const start = processing.string("start_offset");
  const end = processing.string("end_offset");
  const fps = processing.number("fps");
  processing.skip("type");
  if (!isObject(raw) || raw["type"] !== "static" || processing.rest() !== undefined) return undefined;
  media.skip("processing");
  return withoutAbsent({ start, end, fps });
}
