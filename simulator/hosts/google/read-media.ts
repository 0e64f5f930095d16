import { decodeBase64 } from "../../inspect-media.ts";
import type { Fields } from "../../media/fields.ts";
import { type GivenImage, imageOfBytes } from "../../media/given-image.ts";
import { names } from "../../names.ts";
import { unsupported } from "./refusals.ts";
import { type GoogleHost, invalid } from "./text/errors.ts";

const KNOWN = names("bytesBase64Encoded gcsUri mimeType");
const TYPES = ["image/png", "image/jpeg", "image/webp"] as const;

function requireOne(media: Fields, name: string): void {
  if (media.has("bytesBase64Encoded") === media.has("gcsUri")) {
    throw invalid(`${name} must have exactly one of bytesBase64Encoded and gcsUri.`);
  }
}

function readStored(media: Fields, host: GoogleHost): void {
  if (host === "gemini") throw unsupported("gcsUri", "the Gemini API");
  if (!media.text("gcsUri")?.startsWith("gs://")) throw media.refuse("gcsUri", "a URL that begins with gs://");
}

/** Google's image in a prediction: its bytes, or on Vertex an object in a bucket. Undefined where the field is not there. */
export function readImage(holder: Fields, name: string, host: GoogleHost): GivenImage | undefined {
  const field = holder.object(name, KNOWN);
  if (field === undefined) return undefined;
  const path = holder.pathOf(name);
  requireOne(field, path);
  const type = field.choice("mimeType", TYPES);
  if (field.has("gcsUri")) {
    readStored(field, host);
    return {};
  }
  const image = imageOfBytes(decodeBase64(field.text("bytesBase64Encoded") ?? ""));
  if (image === undefined) throw invalid(`${path}: the data is not valid ${type ?? "image data"}.`);
  return image;
}

/** A video to go on from. Its bytes begin as those of an MP4 do. */
export function readVideo(holder: Fields, name: string, host: GoogleHost): void {
  const video = holder.object(
    name,
    names(`${[...KNOWN].join(" ")}${host === "gemini" ? " uri encodedVideo encoding" : ""}`),
  );
  if (video === undefined || video.has("uri") || video.has("encodedVideo")) return;
  const path = holder.pathOf(name);
  requireOne(video, path);
  video.choice("mimeType", ["video/mp4", "video/mov"]);
  if (video.has("gcsUri")) {
    readStored(video, host);
    return;
  }
  const bytes = decodeBase64(video.text("bytesBase64Encoded") ?? "");
  if (Buffer.from(bytes ?? []).toString("latin1", 4, 8) !== "ftyp")
    throw invalid(`${path}: the data is not valid video/mp4.`);
}
