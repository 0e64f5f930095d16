import type { JsonObject } from "../../../json.ts";

/** What a host says when it refuses or fails, before it is in the host's own shape. */
export interface Refusal {
  status: number;
  message: string;
  type: string;
  param: string | null;
  code: string | null;
}

export interface ErrorShape {
  body(refusal: Refusal): JsonObject;
  /** Where the host says nothing by its HTTP status. */
  status?: number;
  /** Inside a stream, the error is a member of a chunk that finishes with `error`. */
  inChunk?: boolean;
}

/** The fields that ask hosts to think. */
export type ReasoningField = "reasoning_effort" | "reasoning" | "thinking" | "enable_thinking" | "chat_template_kwargs";

/** Where a host differs from the chat completions that it says it is compatible with. What is left out is as at OpenAI. */
export interface HostBehaviour {
  /** The provider's kind in the gateway, and the host's segment in the simulator's URLs. */
  kind: string;
  /** Wants no key. */
  keyless?: true;
  /** Header of the key, where it is not a bearer token. */
  keyHeader?: string;

  /** Where the thoughts are in an answer: `details` next to `reasoning`, `parts` and `tags` inside the content. */
  thoughts: "reasoning_content" | "reasoning" | "details" | "parts" | "tags" | "unseen";
  /** The fields that make it think, and with `thinksUnasked` those that keep it from it. Others are refused or ignored. */
  asks: readonly ReasoningField[];
  thinksUnasked?: true;
  /** Takes `thinking` or `reasoning_effort`, not both at a time. */
  asksOnce?: true;
  /** The words that it takes as `reasoning_effort`. */
  efforts?: readonly string[];
  /**
   * Where it requires its thoughts in the history: on every assistant message, on those with calls (and not empty), or
   * nowhere. Thinking models only.
   */
  history?: "required" | "required with calls" | "refused";

  /** Fields that it answers with a 400. */
  refuses?: readonly string[];
  /** Fields that only its thinking models refuse. */
  thinkersRefuse?: readonly string[];
  /** All that it knows; other fields are refused. Without it, they are ignored. */
  knows?: ReadonlySet<string>;
  /** The open interval in which temperature and top_p must lie. */
  openUnitInterval?: true;
  /** The forms of an answer that it knows. */
  formats?: readonly string[];
  /** Images only as data, never by URL. */
  noMediaUrls?: true;
  /** What ids of tool calls look like. */
  callIds?: { length: number; prefix: string };
  /** The form that ids in the history must have. Not verified: only a simulator with `strictHosts` refuses. */
  strictCallIds?: RegExp;

  /** How calls stream: in fragments by index; whole; whole and without index and type; in fragments that repeat an empty id. */
  calls: "fragments" | "whole" | "unindexed" | "empty ids";
  /** The position of usage in a stream: a separate chunk, the last one with a choice, inside that choice, or twice (Groq). */
  usage: "separate" | "last chunk" | "in choice" | "x_groq";
  /** Usage comes without being asked for. */
  usageUnasked?: true;
  /** `completion_tokens` leaves the thoughts out, and only `total_tokens` has them. */
  thoughtsUncounted?: true;
  /** A comment line before the first chunk and between chunks. */
  comment?: string;
  /** The members of a delta or choice that are there without a value: null keys, no keys, or the role each time. */
  deltas?: "null keys" | "sparse" | "role each time";
  /** A first chunk of no choices. */
  leadingChunk?: JsonObject;
  /** Members of every answer and chunk that are the host's own. */
  extras?: JsonObject;
  /** Members of the usage that are the host's own. */
  usageExtras?: JsonObject;
  errors: ErrorShape;
}
