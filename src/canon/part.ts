import type { JsonObject } from "../base/json.ts";
import type { Citation } from "./citation.ts";
import type { Opaque } from "./opaque.ts";

/** How long a prefix is to be kept at least. No protocol knows all of these. */
export type CacheAge = "5m" | "30m" | "1h" | "12h";

/** Up to here the prompt is to be kept in the provider's cache. */
export interface CacheMark {
  ttl?: CacheAge;
  /** The client's name of the mark, where its dialect has another than the usual one. */
  field?: string;
}

/** What every part may have in addition to its content. */
interface PartBase {
  /** JSON path in the client's request; absent in answers. */
  path?: string;
  cache?: CacheMark;
  /** A signature on a part that is not reasoning: some hosts sign text, calls and images too. */
  signature?: Opaque;
  /** Fields that only the dialect they came in knows. Its own encoder puts them back; every other one reports them. */
  extras?: JsonObject;
}

export interface TextPart extends PartBase {
  type: "text";
  text: string;
  citations?: readonly Citation[];
  /** In answers: the model said it in a message of its own, after another one. Without this, texts may be pieces of one sentence. */
  apart?: true;
}

/** Reasoning in the order it was produced; it may be empty but signed, or redacted, which is an opaque value alone (H02). */
export interface ReasoningPart extends PartBase {
  type: "reasoning";
  text: string;
  /** The text sums the reasoning up and is not the reasoning itself. */
  summary?: boolean;
}

/** The model's words for why it will not answer. */
export interface RefusalPart extends PartBase {
  type: "refusal";
  text: string;
}

export type MediaKind = "image" | "document" | "audio" | "video";

export type MediaSource =
  /** Standard base64. */
  | { type: "data"; mimeType: string; data: string }
  | { type: "url"; url: string; mimeType?: string }
  /** A file that was given to a provider before; no other has it. */
  | { type: "file"; id: string; origin: string; mimeType?: string }
  | { type: "text"; text: string }
  | { type: "parts"; parts: readonly (TextPart | MediaPart)[] };

export interface MediaPart extends PartBase {
  type: "media";
  kind: MediaKind;
  source: MediaSource;
  /** A document's name: a title, or the name of a file. */
  title?: string;
  /** JSON path of the title, in dialects where it does not tell itself from the part's. */
  titlePath?: string;
  /** What a document is about, for the model and not for citations. */
  context?: string;
  /** Whether answers should cite the document. */
  citations?: boolean;
  /** How closely to look at it. */
  detail?: "low" | "medium" | "high" | "ultra_high" | "auto";
  /** The part of a video to look at. */
  clip?: { start?: string; end?: string; fps?: number };
}

/** A tool of the caller's that the model wants to be called. */
export interface ToolCallPart extends PartBase {
  type: "tool-call";
  id: string;
  name: string;
  /** JSON text of an object; may be broken where the model broke it, empty where there are no arguments. Free text for custom tools. */
  input: string;
  custom?: boolean;
}

export interface ToolResultPart extends PartBase {
  type: "tool-result";
  callId: string;
  /** The tool's name where the client's protocol has it; else it is looked up from the call. */
  name?: string;
  content: readonly (TextPart | MediaPart | SearchResultPart | NativePart)[];
  isError?: boolean;
  /** The result as an object, where the client's protocol gives one; `content` then says the same in text. */
  response?: JsonObject;
  custom?: boolean;
}

/** A passage that the caller found and wants to be cited. */
export interface SearchResultPart extends PartBase {
  type: "search-result";
  source?: string;
  title?: string;
  content: readonly (TextPart | MediaPart)[];
  citations?: boolean;
}

/** A tool that the provider runs by itself, such as a web search. */
export interface ServerToolCallPart extends PartBase {
  type: "server-tool-call";
  id: string;
  name: string;
  /** JSON text. */
  input: string;
}

export interface WebPage {
  url: string;
  title?: string;
  /** The page as the provider wants it back. */
  content?: Opaque;
  age?: string;
}

/** Contract 7: a search that failed is reported inside the answer. */
export type SearchErrorCode =
  | "too_many_requests"
  | "invalid_input"
  | "max_uses_exceeded"
  | "query_too_long"
  | "unavailable";

export interface ServerToolResultPart extends PartBase {
  type: "server-tool-result";
  callId: string;
  name: string;
  result: { pages: readonly WebPage[] } | { error: SearchErrorCode };
}

/** A block that only its own dialect can carry. */
export interface NativePart extends PartBase {
  type: "native";
  dialect: string;
  /** What kind of block it is, in the dialect's own word. */
  name: string;
  raw: JsonObject;
  /** What other dialects are given of it: words, or nothing because the rest of the request says the same. Absent: it is left out. */
  elsewhere?: { words?: string; reason: string };
  /** What the model says in it, for protocols that have words alone. */
  text?: string;
}

export type Part =
  | TextPart
  | ReasoningPart
  | RefusalPart
  | MediaPart
  | ToolCallPart
  | ToolResultPart
  | SearchResultPart
  | ServerToolCallPart
  | ServerToolResultPart
  | NativePart;
