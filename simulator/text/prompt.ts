import type { Media } from "../inspect-media.ts";
import type { Json, JsonObject } from "../json.ts";

export type CacheTtl = "5m" | "1h";

/** `cache` marks the end of a prefix to cache (messages only). */
export type PromptPart = { cache?: CacheTtl } & (
  | { type: "text"; text: string }
  | { type: "media"; media: Media }
  | { type: "call"; id: string; name: string; input: Json }
  | { type: "result"; id: string; name: string; text: string; media: Media[]; failed: boolean }
  /** Earlier thinking and server-tool blocks: they count as tokens, and do not change the answer. */
  | { type: "past"; text: string }
);

export interface Turn {
  role: "user" | "assistant";
  parts: PromptPart[];
}

export interface Tool {
  name: string;
  description: string;
  schema: JsonObject | undefined;
  /** Takes free text instead of JSON arguments (chat's custom tools). */
  freeform: boolean;
  cache?: CacheTtl;
}

export type OutputFormat =
  | { type: "text" }
  | { type: "json" }
  | { type: "schema"; schema: JsonObject }
  | { type: "enum"; values: string[] };

/** `hidden`: tokens are spent, nothing is shown. `omitted`: an empty but signed block is shown. */
export type Thinking = "off" | "hidden" | "shown" | "omitted";

/** A request in the simulator's own words, the same for every protocol. */
export interface Prompt {
  system: { text: string; cache?: CacheTtl }[];
  turns: Turn[];
  tools: Tool[];
  choice: { mode: "auto" | "none" | "required"; names?: string[] };
  parallel: boolean;
  format: OutputFormat;
  maxTokens?: number;
  stop: string[];
  thinking: Thinking;
  /** A web search tool was declared. */
  search: boolean;
  /** Tokens of a cached-content resource that the request names (Google only). */
  storedTokens: number;
}

/** Consecutive turns of one role are one turn, so that a request counts the same in every protocol. */
export function mergeTurns(turns: readonly Turn[]): Turn[] {
  const merged: Turn[] = [];
  for (const turn of turns) {
    const last = merged.at(-1);
    if (last?.role === turn.role) last.parts.push(...turn.parts);
    else merged.push({ role: turn.role, parts: [...turn.parts] });
  }
  return merged;
}

export function textOf(turn: Turn | undefined): string {
  return (turn?.parts ?? [])
    .flatMap((part) => (part.type === "text" ? [part.text] : []))
    .join("\n")
    .trim();
}

/** The newest words of the user, looking past turns that only carry tool results. */
export function lastUserText(prompt: Prompt): string {
  for (const turn of prompt.turns.toReversed()) {
    const text = turn.role === "user" ? textOf(turn) : "";
    if (text !== "") return text;
  }
  return "";
}
