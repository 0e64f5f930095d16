import type { Opaque } from "./opaque.ts";

interface CitationBase {
  /** The words of the source. */
  citedText?: string;
  title?: string;
  /**
   * Characters (UTF-16) of the text part that the citation stands for, end exclusive; the whole part where absent, because
   * some protocols cut their answers into parts just for that.
   */
  start?: number;
  end?: number;
}

/** A page of the web. */
export interface WebCitation extends CitationBase {
  type: "web";
  url: string;
  /** Where in the page, in a form that only the provider reads. */
  index?: Opaque;
}

/** A place in a document of the prompt. Pages count from 1, characters and blocks from 0; the end is exclusive. */
interface DocumentCitation extends CitationBase {
  type: "document";
  unit: "character" | "page" | "block";
  documentIndex: number;
  from: number;
  to: number;
}

/** A place in one of the caller's own search results. */
interface SearchResultCitation extends CitationBase {
  type: "search-result";
  source?: string;
  resultIndex: number;
  fromBlock: number;
  toBlock: number;
}

export type Citation = WebCitation | DocumentCitation | SearchResultCitation;
