import type { MediaPart } from "../../canon/part.ts";

/** The text of a text document, in whatever form it arrived. */
export function documentText({ kind, source }: MediaPart): string | undefined {
  if (source.type === "text") return source.text;
  if (kind !== "document" || source.type !== "data") return undefined;
  const isText = source.mimeType.startsWith("text/") || source.mimeType === "application/json";
  return isText ? Buffer.from(source.data, "base64").toString() : undefined;
}

export function headed(part: MediaPart, text: string): string {
  const header = headerOf(part);
  return header === "" ? text : `${header}\n\n${text}`;
}

export function headerOf({ title, context }: MediaPart): string {
  const lines = [...(title === undefined ? [] : [`Document: ${title}`]), ...(context === undefined ? [] : [context])];
  return lines.join("\n");
}
