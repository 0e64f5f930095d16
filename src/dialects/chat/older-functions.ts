import { arrayAt, type JsonObject } from "../../base/json.ts";
import type { Fields } from "../../canon/fields.ts";
import type { ToolCallPart } from "../../canon/part.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import type { Tool, ToolChoice } from "../../canon/tool.ts";
import { answerNote } from "../answer/answer-note.ts";
import { decodeTool } from "./tools.ts";

/** Tools and tool choice in the form that `tools` and `tool_choice` replaced. A response has at most one call. */
export const olderFunctions = {
  decode(body: Fields): Tool[] {
    const functions = body.array("functions") ?? [];
    return functions.map((raw, index) => decodeTool({ type: "function", function: raw }, `functions[${index}]`));
  },

  decodeChoice(body: Fields): ToolChoice | undefined {
    const choice = body.string("function_call") ?? body.object("function_call")?.["name"];
    if (choice === "none" || choice === "auto") return { type: choice };
    return typeof choice === "string" ? { type: "tool", name: choice } : undefined;
  },

  /** Whether the client of this request expects calls in the older form. */
  readBy: (request: JsonObject): boolean =>
    arrayAt(request, "functions").length > 0 && arrayAt(request, "tools").length === 0,

  /** A call in this form has no id, so its signature cannot be returned. */
  encodeCall: ({ name, input }: Pick<ToolCallPart, "name" | "input">): JsonObject => ({
    name,
    arguments: input || "{}",
  }),

  /** The note on a further call in one response. */
  secondCall: (name: string): FieldNote =>
    answerNote("content", "dropped", `legacy functions allow one call per response; the call to ${name} was left out`),
} as const;
