import type { JsonObject } from "../base/json.ts";
import type { CacheMark } from "./part.ts";

interface ToolBase {
  /** JSON path in the client's request. */
  path: string;
  cache?: CacheMark;
  /** A block of the conversation brings it, which its own dialect's encoder puts back; other targets are offered it from the beginning. */
  loaded?: true;
  extras?: JsonObject;
}

export interface FunctionTool extends ToolBase {
  type: "function";
  name: string;
  description?: string;
  /** JSON Schema of the arguments; absent for a function without any. */
  schema?: JsonObject;
  strict?: boolean;
  /** A tool that the dialect's models know by a type of its own; other models get it as the plain function it is. */
  native?: { dialect: string; raw: JsonObject };
}

/** A tool that takes free text, perhaps by a grammar, instead of a JSON object. */
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

/** A tool of the provider's that only its own dialect knows. */
interface NativeTool extends ToolBase {
  type: "native";
  dialect: string;
  name: string;
  raw: JsonObject;
}

export type Tool = FunctionTool | CustomTool | WebSearchTool | NativeTool;

export type ToolChoice =
  | { type: "auto" }
  | { type: "none" }
  /** One of the tools, whichever. */
  | { type: "any" }
  | { type: "tool"; name: string }
  | { type: "allowed"; mode: "auto" | "any"; names: readonly string[] };

/** Whether a choice asks for a call. Without tools any other one is kept to anyway. */
export const asksForCall = (choice: ToolChoice | undefined): boolean =>
  choice !== undefined && choice.type !== "none" && choice.type !== "auto";
