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

/** Parts that a response can contain. */
export type ReplyPart = Exclude<Part, { type: "tool-result" | "search-result" }>;

/** The weight of the text, reasoning and tool arguments, from which output tokens are estimated. */
export function weightOfParts(parts: readonly ReplyPart[]): number {
  let characters = 0;
  for (const part of parts) {
    if ("text" in part) characters += textWeight(part.text);
    else if (part.type === "tool-call") characters += textWeight(part.input);
  }
  return characters;
}

/** A whole response. */
export interface CanonReply {
  /** The upstream's id of the response. */
  id?: string;
  /** Unix seconds. */
  created?: number;
  parts: readonly ReplyPart[];
  stop: Stop;
  /** The stop sequence that matched, if the upstream reports it. */
  stopSequence?: string;
  /** The upstream's explanation of the stop. */
  stopDetail?: string;
  /** The policy by which the upstream declined, in its own term. */
  stopCategory?: string;
  usage?: Usage;
  logprobs?: readonly TokenLogprob[];
}
