import type { JsonObject } from "../../base/json.ts";
import { isObject } from "../../base/json.ts";
import type { FieldNote } from "../../canon/receipt.ts";

/** Fields about calling tools, which hosts reject without tools. */
const ABOUT_TOOLS = ["tool_choice", "parallel_tool_calls"];

/** The fields that some hosts reject because the list of tools is empty. Only a request for a call is lost. */
export function emptyTools(body: JsonObject): { remove: readonly string[]; notes: readonly FieldNote[] } {
  const { tools, tool_choice: choice } = body;
  if (!Array.isArray(tools) || tools.length > 0) return NOTHING;
  const word = isObject(choice) ? choice["type"] : choice;
  const idle = choice === undefined || choice === null || word === "auto" || word === "none";
  const note: FieldNote = { path: "tool_choice", action: "dropped", reason: "the list of tools is empty" };
  return { remove: ["tools", ...ABOUT_TOOLS], notes: idle ? [] : [note] };
}

const NOTHING = { remove: [], notes: [] };
