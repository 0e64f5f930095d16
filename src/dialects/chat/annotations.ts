import { type JsonObject, stringAt } from "../../base/json.ts";
import type { Citation, WebCitation } from "../../canon/citation.ts";

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
