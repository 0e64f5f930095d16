import { isObject, type JsonObject, numberAt, objectAt, stringAt } from "../../base/json.ts";
import type { Citation, WebCitation } from "../../canon/citation.ts";

/** A `url_citation`; its range counts characters of the whole answer. */
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

/** The citation as one of a text that begins at `offset` of the answer; undefined where it belongs to another text. */
export function citationWithin(citation: WebCitation, offset: number, length: number): WebCitation | undefined {
  const { start, end, ...rest } = citation;
  if (start === undefined || end === undefined) return citation;
  if (start < offset || start >= offset + length) return undefined;
  const from = start - offset;
  const to = Math.min(end - offset, length);
  return from === 0 && to === length ? rest : { ...rest, start: from, end: to };
}

/** Citations of the web as annotations; places in the prompt's own documents have no form in this protocol. */
export function encodeAnnotation(citation: Citation, offset: number, length: number): JsonObject[] {
  const url = citation.type === "web" ? citation.url : citation.type === "search-result" ? citation.source : undefined;
  if (url === undefined || !/^https?:/.test(url)) return [];
  const { title, citedText } = citation;
  const annotation = {
    url,
    title: title ?? url,
    start_index: offset + (citation.start ?? 0),
    end_index: offset + (citation.end ?? length),
    ...(citedText === undefined ? {} : { content: citedText }),
  };
  return [{ type: "url_citation", url_citation: annotation }];
}

/** Pages that some hosts name next to the answer, without saying what in it they stand for. */
export function decodeSources(body: JsonObject): WebCitation[] {
  const titles = new Map<string, string>();
  for (const result of Array.isArray(body["search_results"]) ? (body["search_results"] as unknown[]) : []) {
    const url = stringAt(result, "url");
    const title = stringAt(result, "title");
    if (url !== undefined && title !== undefined) titles.set(url, title);
  }
  const sources = Array.isArray(body["citations"]) ? (body["citations"] as unknown[]) : [];
  return sources.flatMap((url): WebCitation[] => {
    if (typeof url !== "string") return [];
    const title = titles.get(url);
    return [{ type: "web", url, ...(title === undefined ? {} : { title }) }];
  });
}
