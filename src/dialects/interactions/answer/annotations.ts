import { type JsonObject, numberAt, stringAt } from "../../../base/json.ts";
import type { Citation } from "../../../canon/citation.ts";
import { TextOffsets } from "../../../wire/text-offsets.ts";
import { answerNote } from "../../answer/answer-note.ts";
import type { DecodeAnswerContext, EncodeAnswerContext } from "../../codec.ts";

const WEB_ADDRESS = /^https?:/;

/**
 * The citations in a text. Offsets count bytes of its UTF-8. Places and files of a provider cannot be cited in other dialects unless they
 * have a URL, and are noted.
 */
export function decodeAnnotations(
  annotations: readonly unknown[],
  text: string,
  note: DecodeAnswerContext["note"],
): Citation[] {
  if (annotations.length === 0) return [];
  const offsets = new TextOffsets(text);
  return annotations.flatMap((raw): Citation[] => {
    const url = stringAt(raw, "url") ?? stringAt(raw, "document_uri");
    if (url === undefined || !WEB_ADDRESS.test(url)) {
      note?.(OF_FILES);
      return [];
    }
    const title = stringAt(raw, "title") ?? stringAt(raw, "name") ?? stringAt(raw, "file_name");
    const start = offsets.charactersAt(numberAt(raw, "start_index") ?? 0);
    const endByte = numberAt(raw, "end_index");
    const end = endByte === undefined ? undefined : offsets.charactersAt(endByte);
    const range = start !== undefined && end !== undefined && end > start ? { start, end } : {};
    return [{ type: "web", url, ...(title ? { title } : {}), ...range }];
  });
}

const OF_FILES = answerNote("citations", "dropped", "other protocols cannot cite files stored by a provider");

/** The citations of a text that starts at `from` in the text of its step. */
export function encodeAnnotations(
  citations: readonly Citation[],
  { text, from }: { text: string; from: number },
  note: EncodeAnswerContext["note"],
): JsonObject[] {
  if (citations.length === 0) return [];
  const offsets = new TextOffsets(text);
  return citations.flatMap((citation): JsonObject[] => {
    const { start = 0, end = text.length - from, title } = citation;
    const url = citation.type === "web" ? citation.url : undefined;
    const source = citation.type === "search-result" ? citation.source : undefined;
    if (url === undefined && source === undefined && title === undefined) {
      note(UNTITLED);
      return [];
    }
    const place = { start_index: offsets.bytesAt(from + start), end_index: offsets.bytesAt(from + end) };
    if (url !== undefined) return [{ type: "url_citation", url, ...(title === undefined ? {} : { title }), ...place }];
    const file = {
      ...(source === undefined ? {} : { document_uri: source }),
      ...(title === undefined ? {} : { file_name: title }),
    };
    return [{ type: "file_citation", ...file, ...place }];
  });
}

const UNTITLED = answerNote(
  "citations",
  "dropped",
  "this protocol cites sources by URL or name, and this one has neither",
);
