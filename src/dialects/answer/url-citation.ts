import { isObject, numberAt, objectAt, stringAt } from "../../base/json.ts";
import type { WebCitation } from "../../canon/citation.ts";

/** A `url_citation`, whose members `chat` nests and `responses` does not. Its range counts characters. */
export function decodeAnnotation(raw: unknown): WebCitation | undefined {
  const citation = objectAt(raw, "url_citation") ?? (isObject(raw) ? raw : undefined);
  const url = stringAt(citation, "url");
  if (citation === undefined || url === undefined) return undefined;
  const title = stringAt(citation, "title");
  const citedText = stringAt(citation, "content");
  const start = numberAt(citation, "start_index");
  const end = numberAt(citation, "end_index");
  return {
    type: "web",
    url,
    ...(title ? { title } : {}),
    ...(citedText ? { citedText } : {}),
    ...(start !== undefined && end !== undefined && end > start ? { start, end } : {}),
  };
}

/** The citation relative to a text that starts at `offset` of the response; undefined if it belongs to another text. */
export function citationWithin(citation: WebCitation, offset: number, length: number): WebCitation | undefined {
  const { start, end } = citation;
  if (start === undefined || end === undefined) return citation;
  if (start < offset || start >= offset + length) return undefined;
  const { start: _start, end: _end, ...rest } = citation;
  const from = start - offset;
  const to = Math.min(end - offset, length);
  return from === 0 && to === length ? rest : { ...rest, start: from, end: to };
}
