import { type JsonObject, stringAt } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import type { Citation, WebCitation } from "../../../canon/citation.ts";
import { answerNote } from "../../answer/answer-note.ts";
import type { EncodeAnswerContext } from "../../codec.ts";

/** Citations as annotations, which this protocol has only for web pages. The receipt notes any others. */
export function encodeAnnotations(
  citations: readonly Citation[],
  { offset, length }: { offset: number; length: number },
  note: EncodeAnswerContext["note"],
): JsonObject[] {
  const annotations: JsonObject[] = [];
  for (const citation of citations) {
    const annotation = encodeAnnotation(citation, offset, length);
    if (annotation === undefined) note(UNCITED);
    else annotations.push(annotation);
  }
  return annotations;
}

const UNCITED = answerNote(
  "citations",
  "dropped",
  "this protocol can only cite web pages, not documents or search results",
);

/** Undefined for a position in a document of the prompt, which this protocol cannot express. */
function encodeAnnotation(citation: Citation, offset: number, length: number): JsonObject | undefined {
  const url = citation.type === "web" ? citation.url : citation.type === "search-result" ? citation.source : undefined;
  if (url === undefined || !/^https?:/.test(url)) return undefined;
  const { title, citedText } = citation;
  const annotation = {
    url,
    title: title ?? url,
    start_index: offset + (citation.start ?? 0),
    end_index: offset + (citation.end ?? length),
    ...withoutAbsent({ content: citedText }),
  };
  return { type: "url_citation", url_citation: annotation };
}

/** Pages that some providers list next to the answer, without saying which part of it they support. */
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
    return [{ type: "web", url, ...withoutAbsent({ title }) }];
  });
}
