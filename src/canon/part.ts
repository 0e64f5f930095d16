import type { JsonObject } from "../base/json.ts";
import type { Citation } from "./citation.ts";
import type { Opaque } from "./opaque.ts";

/** The minimum time to cache a prefix. No protocol supports all of these. */
export type CacheAge = "5m" | "30m" | "1h" | "12h";

/** Cache the prompt up to here. */
export interface CacheMark {
  ttl?: CacheAge;
  /** The client's name for the mark, if it is not the dialect's usual one. */
  field?: string;
}

/** Fields that every part can have. */
interface PartBase {
  /** JSON path in the client's request. Absent in responses. */
  path?: string;
  cache?: CacheMark;
  /** A signature on a part other than reasoning. Some providers also sign text, calls and images. */
  signature?: Opaque;
  /** Fields that exist only in the client's dialect. Its own encoder restores them; all others report them. */
  extras?: JsonObject;
}

export interface TextPart extends PartBase {
  type: "text";
  text: string;
  citations?: readonly Citation[];
  /** In responses: the text is a separate message. Without this, adjacent texts may be pieces of one sentence. */
  apart?: true;
}

/** Reasoning in the order it was produced. It can be empty but signed, or redacted, which is only an opaque value (H02). */
export interface ReasoningPart extends PartBase {
  type: "reasoning";
  text: string;
  /** The text is a summary of the reasoning. */
  summary?: boolean;
}

/** The model's explanation of why it refuses. */
export interface RefusalPart extends PartBase {
  type: "refusal";
  text: string;
}

export type MediaKind = "image" | "document" | "audio" | "video";

/** The origin of a file that was uploaded to the provider of the very request. */
export const AT_TARGET: unique symbol = Symbol("at the target");

export type MediaSource =
  /** Standard base64. */
  | { type: "data"; mimeType: string; data: string }
  | { type: "url"; url: string; mimeType?: string }
  /** A file uploaded to one provider. No other provider has it. */
  | { type: "file"; id: string; origin: string | typeof AT_TARGET; mimeType?: string }
  | { type: "text"; text: string }
  | { type: "parts"; parts: readonly (TextPart | MediaPart)[] };

export interface MediaPart extends PartBase {
  type: "media";
  kind: MediaKind;
  source: MediaSource;
  /** A document's title or file name. */
  title?: string;
  /** JSON path of the title, in dialects where it does not follow from the part's path. */
  titlePath?: string;
  /** Background on a document, for the model and not for citations. */
  context?: string;
  /** Whether responses should cite the document. */
  citations?: boolean;
  /** How closely to look at it. */
  detail?: "low" | "medium" | "high" | "ultra_high" | "auto";
  /** The section of a video to look at. */
  clip?: { start?: string; end?: string; fps?: number };
}

/** The form of a call or result in the only dialect that has its own. Other dialects use the common form. */
interface OwnForm {
  dialect: string;
  /** The type of the tool. */
  tool: string;
  raw: JsonObject;
}

/** A call of one of the caller's tools. */
export interface ToolCallPart extends PartBase {
  type: "tool-call";
  id: string;
  name: string;
  /** JSON text of an object, possibly malformed by the model; empty if there are no arguments. Free text for custom tools. */
  input: string;
  custom?: boolean;
  native?: OwnForm;
}

export interface ToolResultPart extends PartBase {
  type: "tool-result";
  callId: string;
  /** The tool's name, if the client's protocol includes it. Otherwise it is looked up from the call. */
  name?: string;
  content: readonly (TextPart | MediaPart | SearchResultPart | NativePart)[];
  isError?: boolean;
  /** The result as an object, if the client's protocol has one. `content` then contains the same as text. */
  response?: JsonObject;
  custom?: boolean;
  native?: OwnForm;
}

/** A passage from the caller for the model to cite. */
export interface SearchResultPart extends PartBase {
  type: "search-result";
  source?: string;
  title?: string;
  content: readonly (TextPart | MediaPart)[];
  citations?: boolean;
}

/** A tool that the provider runs, such as a web search. */
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
  /** The page in the form the provider expects back. */
  content?: Opaque;
  age?: string;
}

/** Contract 7: a failed search is reported inside the response. */
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
  /** The kind of block, in the dialect's own term. */
  name: string;
  raw: JsonObject;
  /**
   * What other dialects get instead: a text, or nothing because the rest of the request repeats it. Without a reason nothing
   * is lost. If absent, the block is left out.
   */
  elsewhere?: { words?: string; reason?: string };
  /** The model's text in it, for protocols that carry only text. */
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
