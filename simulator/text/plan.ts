import type { Modality } from "../inspect-media.ts";
import type { Json } from "../json.ts";
import type { Seed } from "../seed.ts";
import type { SearchResult } from "./search-results.ts";

/** A stretch of the answer's text; `source` where the text is cited from a search result. */
export interface Span {
  text: string;
  source?: SearchResult;
}

export type Segment =
  | { type: "thinking"; text: string }
  /** Thinking that the host does not show, only carries (messages). */
  | { type: "redacted"; text: string }
  | { type: "search"; query: string; results: readonly SearchResult[] }
  | { type: "text"; spans: Span[] }
  | { type: "call"; ordinal: number; name: string; input: Json; freeform: boolean };

export type PlannedStop = "end" | "length" | "sequence" | "tool" | "refusal" | "blocked";

interface PlannedUsage {
  /** All prompt tokens, cached or not. */
  input: number;
  /** The same, by what they were made from. */
  byModality: ReadonlyMap<Modality, number>;
  cacheRead: number;
  cacheWrite5m: number;
  cacheWrite1h: number;
  /** Without thinking. */
  output: number;
  reasoning: number;
  searches: number;
  /** Prompt tokens that the search results added after the answer had begun. */
  searchInput: number;
}

/** The planned response, independent of the protocol. */
export interface Plan {
  seed: Seed;
  segments: Segment[];
  stop: PlannedStop;
  stopSequence?: string;
  usage: PlannedUsage;
}

export function textOfSpans(spans: readonly Span[]): string {
  return spans.map((span) => span.text).join("");
}
