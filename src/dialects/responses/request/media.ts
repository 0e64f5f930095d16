import { withoutAbsent } from "../../../base/without-absent.ts";
import { Fields } from "../../../canon/fields.ts";
import type { MediaPart } from "../../../canon/part.ts";
import { takeBreakpoint } from "../../request/cache-breakpoints.ts";
import { kindOfSource, sourceOfFile, sourceOfUrl } from "../../request/media-source.ts";

type FoundMedia = Pick<MediaPart, "kind" | "source" | "detail" | "title">;

/** The origin of this protocol's file ids. */
const FILES = "responses";

/** A media part of this protocol, or undefined for any other type and for a part without content. */
export function decodeMedia(raw: unknown, path: string): MediaPart | undefined {
  const fields = new Fields(raw);
  const type = fields.string("type") ?? "";
  const found = READERS.get(type)?.(fields);
  if (found === undefined) return undefined;
  const cache = takeBreakpoint(fields);
  const extras = fields.rest();
  return { type: "media", ...found, path, ...cache, ...withoutAbsent({ extras }) };
}

const READERS: ReadonlyMap<string, (fields: Fields) => FoundMedia | undefined> = new Map([
  ["input_image", readImage],
  ["input_file", readFile],
]);

/** `original` is the highest level of detail. */
const DETAILS: ReadonlyMap<string, NonNullable<MediaPart["detail"]>> = new Map([
  ["low", "low"],
  ["high", "high"],
  ["auto", "auto"],
  ["original", "ultra_high"],
]);

function readImage(fields: Fields): FoundMedia | undefined {
  const url = fields.string("image_url");
  const id = url === undefined ? fields.string("file_id") : undefined;
  const detail = DETAILS.get(fields.string("detail") ?? "");
  const looked = detail === undefined ? {} : { detail };
  if (url !== undefined) return { kind: "image", source: sourceOfUrl(url), ...looked };
  return id === undefined ? undefined : { kind: "image", source: { type: "file", id, origin: FILES }, ...looked };
}

/** The first of several forms in which a file is given is used. The others stay unread. */
function readFile(fields: Fields): FoundMedia | undefined {
  const filename = fields.string("filename");
  const title = filename === undefined ? {} : { title: filename };
  const data = fields.string("file_data");
  if (data !== undefined) {
    const source = sourceOfFile(data, filename);
    return { kind: kindOfSource(source), source, ...title };
  }
  const url = fields.string("file_url");
  if (url !== undefined) return { kind: "document", source: sourceOfUrl(url), ...title };
  const id = fields.string("file_id");
  return id === undefined ? undefined : { kind: "document", source: { type: "file", id, origin: FILES }, ...title };
}
