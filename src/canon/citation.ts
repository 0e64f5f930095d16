import type { Opaque } from "./opaque.ts";

interface CitationBase {
  /** The quoted text of the source. */
  citedText?: string;
  title?: string;
  /**
   * Range in the cited text part, in UTF-16 code units, end exclusive. If absent, the citation covers the whole part: some protocols split
   * their output into parts for that.
   */
  start?: number;
  end?: number;
}

/** A web page. */
export interface WebCitation extends CitationBase {
  type: "web";
  url: string;
  /** The position in the page, in a form that only the provider can read. */
  index?: Opaque;
}

/** A position in a document of the prompt. Pages count from 1, characters and blocks from 0. The end is exclusive. */
interface DocumentCitation extends CitationBase {
  type: "document";
  unit: "character" | "page" | "block";
  documentIndex: number;
  from: number;
  to: number;
}

/** A position in one of the caller's own search results. */
interface SearchResultCitation extends CitationBase {
  type: "search-result";
  source?: string;
  resultIndex: number;
  fromBlock: number;
  toBlock: number;
}

export type Citation = WebCitation | DocumentCitation | SearchResultCitation;
