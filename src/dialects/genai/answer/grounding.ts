import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from "../../../base/json.ts";
import type { Citation } from "../../../canon/citation.ts";
import type { ServerToolCallPart, ServerToolResultPart, WebPage } from "../../../canon/part.ts";
import { TextOffsets } from "../../../wire/text-offsets.ts";
import { readQueries, writeQueries } from "../../answer/search-queries.ts";
import { parseArguments } from "../arguments.ts";

/** The canonical name of the search that this dialect reports as grounding. */
const SEARCH_NAME = "web_search";

/** A range of the response text in UTF-16 characters. */
interface TextRange {
  start: number;
  end: number;
}

interface FoundCitation {
  citation: Citation;
  /** The range in the whole response text; undefined if it is missing or wrong. */
  range: TextRange | undefined;
}

/** Reads the citations from a response's grounding and citation metadata. */
export function decodeCitations(
  grounding: JsonObject | undefined,
  recited: readonly unknown[],
  text: string,
): FoundCitation[] {
  const bytes = new ByteOffsets(text);
  const sources = arrayAt(grounding, "groundingChunks").map(citationOf);
  const grounded = arrayAt(grounding, "groundingSupports").flatMap((support) => {
    const range = bytes.rangeOf(objectAt(support, "segment"));
    return arrayAt(support, "groundingChunkIndices").flatMap((index): FoundCitation[] => {
      const citation = typeof index === "number" ? sources[index] : undefined;
      return citation === undefined ? [] : [{ citation, range }];
    });
  });
  const quoted = recited.flatMap((one): FoundCitation[] => {
    const url = stringAt(one, "uri");
    const title = stringAt(one, "title");
    if (!url) return [];
    return [{ citation: { type: "web", url, ...(title ? { title } : {}) }, range: bytes.rangeOf(one) }];
  });
  return [...grounded, ...quoted];
}

const WEB_ADDRESS = /^https?:/;

/** A chunk as a citation: of a page, or of a passage that the provider retrieved from a store of the caller. */
function citationOf(chunk: unknown, resultIndex: number): Citation | undefined {
  const page = sourceOf(chunk);
  if (page !== undefined && WEB_ADDRESS.test(page.url)) return { type: "web", ...page };
  const passage = objectAt(chunk, "retrievedContext");
  if (passage === undefined) return page && { type: "web", ...page };
  const source = stringAt(passage, "uri") || stringAt(passage, "documentName");
  const title = stringAt(passage, "title");
  const citedText = stringAt(passage, "text");
  return {
    type: "search-result",
    ...(source ? { source } : {}),
    ...(title ? { title } : {}),
    ...(citedText ? { citedText } : {}),
    resultIndex,
    fromBlock: 0,
    toBlock: 1,
  };
}

/** A chunk's page, whatever its kind of source. */
function sourceOf(chunk: unknown): WebPage | undefined {
  const source = Object.values(isObject(chunk) ? chunk : {}).find((one) => stringAt(one, "uri"));
  const url = stringAt(source, "uri");
  const title = stringAt(source, "title");
  return url === undefined ? undefined : { url, ...(title ? { title } : {}) };
}

/** The search behind the grounding as a call and a result, as other protocols have them; none if nothing was searched. */
export function decodeSearch(
  grounding: JsonObject | undefined,
  id: string,
): [] | [ServerToolCallPart, ServerToolResultPart] {
  const queries = arrayAt(grounding, "webSearchQueries").filter((query) => typeof query === "string");
  if (queries.length === 0) return [];
  const pages = arrayAt(grounding, "groundingChunks").flatMap((chunk) => sourceOf(chunk) ?? []);
  return [
    { type: "server-tool-call", id, name: SEARCH_NAME, input: writeQueries(queries) },
    { type: "server-tool-result", callId: id, name: SEARCH_NAME, result: { pages } },
  ];
}

/** How many characters are searched for segments whose offsets are wrong. */
const MAX_SEARCHED = 64 * 1024 * 1024;

/** Converts offsets between UTF-8 bytes, used by this dialect, and UTF-16 characters, used by the canon. */
class ByteOffsets {
  readonly #text: string;
  readonly #offsets: TextOffsets;
  #searched = 0;

  constructor(text: string) {
    this.#text = text;
    this.#offsets = new TextOffsets(text);
  }

  /** A segment's range if its offsets fit the text, else the only place where its text occurs. A missing start is 0. */
  rangeOf(segment: unknown): TextRange | undefined {
    const startByte = numberAt(segment, "startIndex") ?? 0;
    const endByte = numberAt(segment, "endIndex");
    const words = stringAt(segment, "text");
    if (endByte !== undefined && startByte >= 0 && startByte < endByte) {
      const start = this.#offsets.charactersAt(startByte);
      const end = this.#offsets.charactersAt(endByte);
      // An offset inside a character fits nothing.
      if (start !== undefined && end !== undefined && this.#says(start, end, words)) return { start, end };
    }
    if (!words || this.#searched > MAX_SEARCHED) return undefined;
    this.#searched += this.#text.length;
    const found = this.#text.indexOf(words);
    if (found < 0 || this.#text.indexOf(words, found + 1) >= 0) return undefined;
    return { start: found, end: found + words.length };
  }

  #says(start: number, end: number, words: string | undefined): boolean {
    return words === undefined || (words.length === end - start && this.#text.startsWith(words, start));
  }
}

/** How many characters of the response are kept for citations. */
const MAX_TEXT = 8 * 1024 * 1024;
/** How many characters are repeated in cited segments: many citations can refer to the same long text (S18). */
const MAX_REPEATED = 1024 * 1024;

/** Collects the sources of a response for a client, and writes them at the end. */
export class GroundingWriter {
  #text = "";
  readonly #blocks = new Map<number, TextRange>();
  readonly #citations: { block: number; citation: Citation }[] = [];
  readonly #queries: string[] = [];
  readonly #pages: WebPage[] = [];

  /** Text in the order in which the client receives it. The text of a block is contiguous. */
  text(block: number, text: string): void {
    if (this.#text.length + text.length > MAX_TEXT) return;
    const range = this.#blocks.get(block) ?? { start: this.#text.length, end: this.#text.length };
    this.#text += text;
    this.#blocks.set(block, { start: range.start, end: this.#text.length });
  }

  /** Text that belongs to no block. */
  between(text: string): void {
    if (this.#text.length + text.length <= MAX_TEXT) this.#text += text;
  }

  cite(block: number, citation: Citation): void {
    this.#citations.push({ block, citation });
  }

  search(part: ServerToolCallPart | ServerToolResultPart): void {
    if (part.name !== SEARCH_NAME) return;
    if (part.type === "server-tool-result") {
      if ("pages" in part.result) this.#pages.push(...part.result.pages);
      return;
    }
    this.#queries.push(...readQueries(parseArguments(part.input)));
  }

  /** The response's `groundingMetadata`; empty if it has no sources. */
  metadata(): { groundingMetadata?: JsonObject } {
    const pages = this.#pages.map((page): Citation => ({ type: "web", ...page }));
    const chunks = new Map<string, JsonObject>();
    for (const source of [...pages, ...this.#citations.map(({ citation }) => citation)]) {
      const key = keyOf(source);
      if (!chunks.has(key)) chunks.set(key, chunkOf(source));
    }
    if (chunks.size === 0 && this.#queries.length === 0) return {};
    const places = new Map([...chunks.keys()].map((key, place) => [key, place]));
    const offsets = new TextOffsets(this.#text);
    const supports = new Map<string, { segment: JsonObject; groundingChunkIndices: number[] }>();
    let repeated = 0;
    for (const { block, citation } of this.#citations) {
      const range = this.#rangeOf(block, citation);
      if (range === undefined) continue;
      const key = `${range.start}-${range.end}`;
      let support = supports.get(key);
      if (support === undefined) {
        repeated += range.end - range.start;
        const text = repeated > MAX_REPEATED ? {} : { text: this.#text.slice(range.start, range.end) };
        const segment = { startIndex: offsets.bytesAt(range.start), endIndex: offsets.bytesAt(range.end), ...text };
        support = { segment, groundingChunkIndices: [] };
        supports.set(key, support);
      }
      support.groundingChunkIndices.push(places.get(keyOf(citation)) ?? 0);
    }
    return {
      groundingMetadata: {
        ...(this.#queries.length > 0 ? { webSearchQueries: this.#queries } : {}),
        groundingChunks: [...chunks.values()],
        groundingSupports: [...supports.values()],
      },
    };
  }

  #rangeOf(block: number, { start, end }: Citation): TextRange | undefined {
    const range = this.#blocks.get(block);
    if (range === undefined) return undefined;
    const from = Math.min(range.start + (start ?? 0), range.end);
    const to = Math.min(range.start + (end ?? range.end - range.start), range.end);
    return { start: from, end: Math.max(from, to) };
  }
}

/** Chunks with the same key are the same chunk. */
const keyOf = (citation: Citation): string =>
  citation.type === "web" ? citation.url : JSON.stringify(chunkOf(citation));

/** The source of a citation. Positions in documents have no form here, but their text and titles do. */
function chunkOf(citation: Citation): JsonObject {
  const { title, citedText } = citation;
  const titled = title === undefined ? {} : { title };
  if (citation.type === "web") return { web: { uri: citation.url, ...titled } };
  const source = citation.type === "search-result" ? citation.source : undefined;
  const text = citedText === undefined ? {} : { text: citedText };
  return { retrievedContext: { ...(source === undefined ? {} : { uri: source }), ...titled, ...text } };
}
