import type { JsonObject } from "../base/json.ts";
import type { CacheMark } from "./part.ts";

interface ToolBase {
  /** JSON path in the client's request. */
  path: string;
  cache?: CacheMark;
  /** Loaded by a block of the conversation, which the dialect's own encoder restores. Other targets get the tool from the start. */
  loaded?: true;
  /** Not shown to the model until a tool search finds it. */
  deferred?: true;
  /** Who may call it: `direct` is the model, others are programs that it writes. Absent if only the model may. */
  callers?: readonly unknown[];
  extras?: JsonObject;
}

export interface FunctionTool extends ToolBase {
  type: "function";
  name: string;
  description?: string;
  /** JSON Schema of the arguments. Absent if the function has none. */
  schema?: JsonObject;
  strict?: boolean;
  /** The tool has its own type in this dialect. Other models get it as a plain function. */
  native?: { dialect: string; raw: JsonObject };
}

/** A tool that takes free text, optionally with a grammar, instead of a JSON object. */
export interface CustomTool extends ToolBase {
  type: "custom";
  name: string;
  description?: string;
  format?: JsonObject;
}

export interface WebSearchTool extends ToolBase {
  type: "web-search";
  allowedDomains?: readonly string[];
  blockedDomains?: readonly string[];
  maxUses?: number;
  location?: { city?: string; region?: string; country?: string; timezone?: string };
  contextSize?: "low" | "medium" | "high";
}

/** What a provider's tool does, if other dialects have a tool for the same. */
export type ToolMeaning =
  /** Finds deferred tools. */
  | { type: "tool-search" }
  /** Reads the pages whose addresses the prompt contains. */
  | { type: "web-fetch" }
  /** Runs code that the model writes. */
  | { type: "code-execution" }
  /** The tools of a remote server, which the provider calls without asking. */
  | { type: "mcp"; name: string; url: string; authorization?: string; allowedTools?: readonly string[] };

/** A provider's tool, in the form of its own dialect. */
export interface NativeTool extends ToolBase {
  type: "native";
  dialect: string;
  name: string;
  raw: JsonObject;
  /** Absent if it exists only in that dialect, or if another one cannot keep a setting that limits it. */
  means?: ToolMeaning;
  /** Settings that such a tool of another dialect lacks, and without which it does the same. */
  unsent?: readonly string[];
}

export type Tool = FunctionTool | CustomTool | WebSearchTool | NativeTool;

export type ToolChoice =
  | { type: "auto" }
  | { type: "none" }
  /** Any one of the tools. */
  | { type: "any" }
  | { type: "tool"; name: string }
  | { type: "allowed"; mode: "auto" | "any"; names: readonly string[] };

/** Whether the choice forces a call. Other choices have no effect if there are no tools. */
export const asksForCall = (choice: ToolChoice | undefined): boolean =>
  choice !== undefined && choice.type !== "none" && choice.type !== "auto";
