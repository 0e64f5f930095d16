import { inspectMedia, type Media, MediaProblem, textMedia } from "../../../inspect-media.ts";
import type { Json } from "../../../json.ts";
import { memberOf, requireArray, requireBase64, requireObject, requireOneOf, requireString } from "./check.ts";
import { invalid } from "./errors.ts";

const IMAGES = ["png", "jpeg", "gif", "webp"] as const;
const VIDEOS = ["mkv", "mov", "mp4", "webm", "flv", "mpeg", "mpg", "wmv", "three_gp"] as const;
const DOCUMENTS = ["pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md"] as const;
/** The rule that hosts of documents state in their refusals. */
const NAME = /^(?! )(?:[a-zA-Z0-9()[\]-]| (?! )){1,200}$/;

function inspect(bytes: Uint8Array, type: string, path: string): Media {
  try {
    return inspectMedia(bytes, type);
  } catch (problem) {
    if (problem instanceof MediaProblem) throw invalid(`Could not process ${path}: the data is not ${type}.`);
    throw problem;
  }
}

export function readImage(value: Json, path: string): Media {
  const image = requireObject(value, path);
  const format = requireOneOf(image.format, IMAGES, `${path}.format`);
  const bytes = requireBase64(requireObject(image.source, `${path}.source`).bytes, `${path}.source.bytes`);
  return inspect(bytes, `image/${format}`, path);
}

export function readVideo(value: Json, path: string): Media {
  const video = requireObject(value, path);
  const format = requireOneOf(video.format, VIDEOS, `${path}.format`);
  const bytes = requireBase64(requireObject(video.source, `${path}.source`).bytes, `${path}.source.bytes`);
  return inspect(bytes, `video/${format}`, path);
}

/** `names` are those of the documents before it: no two may be the same. */
export function readDocument(value: Json, path: string, names: Set<string>): Media {
  const document = requireObject(value, path);
  const format = requireOneOf(document.format, DOCUMENTS, `${path}.format`);
  const name = requireString(document.name, `${path}.name`);
  if (!NAME.test(name)) {
    throw invalid(
      "The document file name can only contain alphanumeric characters, whitespace characters, hyphens, parentheses, and square brackets. The name can't contain more than one consecutive whitespace character.",
    );
  }
  if (names.has(name)) throw invalid("Messages contains duplicate document names. Remove duplicate document names.");
  names.add(name);
  const { kind, member } = memberOf(document.source, `${path}.source`);
  if (kind === "text") return textMedia(requireString(member, `${path}.source.text`), "text/plain");
  if (kind === "content") {
    const texts = requireArray(member, `${path}.source.content`).map((block, at) =>
      requireString(requireObject(block, path).text, `${path}.source.content.${at}.text`),
    );
    return textMedia(texts.join("\n"), "text/plain");
  }
  if (kind !== "bytes") throw invalid(`${path}.source: the simulator keeps no ${kind}.`);
  const type =
    format === "pdf" ? "application/pdf" : format === "txt" || format === "md" ? "text/plain" : `application/${format}`;
  return inspect(requireBase64(member, `${path}.source.bytes`), type, path);
}
