import type { MediaKind, MediaSource } from "../../canon/part.ts";

const DATA_URL_HEAD = /^data:([^;,]+)(?:;[^;,]+)*;base64,/;

const MIME_OF_EXTENSION: ReadonlyMap<string, string> = new Map([
  ["txt", "text/plain"],
  ["md", "text/markdown"],
  ["csv", "text/csv"],
  ["html", "text/html"],
  ["json", "application/json"],
]);

/** The media at a URL, or in a data URL. */
export function sourceOfUrl(url: string): MediaSource {
  const head = DATA_URL_HEAD.exec(url);
  if (head?.[1] === undefined) return { type: "url", url };
  return { type: "data", mimeType: head[1], data: url.slice(head[0].length) };
}

/** A file is bare base64 or a data URL. If only its name could tell the type, PDF is assumed, which hosts accept. */
export function sourceOfFile(data: string, filename: string | undefined): MediaSource {
  if (data.startsWith("data:") || data.startsWith("https://")) return sourceOfUrl(data);
  const extension = filename?.split(".").at(-1)?.toLowerCase() ?? "";
  return { type: "data", mimeType: MIME_OF_EXTENSION.get(extension) ?? "application/pdf", data };
}

/** The kind of media of a source, by its type. */
export function kindOfSource(source: MediaSource): MediaKind {
  const kind = source.type === "data" ? source.mimeType.split("/")[0] : undefined;
  return kind === "image" || kind === "audio" || kind === "video" ? kind : "document";
}
