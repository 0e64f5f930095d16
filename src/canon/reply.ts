import { textWeight } from "../base/text-weight.ts";
import type { Part } from "./part.ts";
import type { Stop } from "./stop.ts";
import type { Usage } from "./usage.ts";

export interface TokenLogprob {
  token: string;
  logprob: number;
  bytes?: readonly number[] | null;
  top?: readonly { token: string; logprob: number; bytes?: readonly number[] | null }[];
}

/** Parts that an answer can have. */
export type ReplyPart = Exclude<Part, { type: "tool-result" | "search-result" }>;

/** How much was said, thought and asked of tools, by its weight: what an estimate of an answer's tokens goes by. */
export function charactersOf(parts: readonly ReplyPart[]): number {
  let characters = 0;
  for (const part of parts) {
    if ("text" in part) characters += textWeight(part.text);
    else if (part.type === "tool-call") characters += textWeight(part.input);
  }
  return characters;
}

/** A whole answer. */
export interface CanonReply {
  /** The upstream's id of the answer. */
  id?: string;
  /** Unix seconds. */
  created?: number;
  parts: readonly ReplyPart[];
  stop: Stop;
  /** The stop sequence that matched, where the upstream says so. */
  stopSequence?: string;
  /** The upstream's words about why it stopped. */
  stopDetail?: string;
  usage?: Usage;
  logprobs?: readonly TokenLogprob[];
}
