import type { JsonObject } from "../../base/json.ts";
import { isObject } from "../../base/json.ts";
import type { FieldNote } from "../../canon/receipt.ts";

/** What says how tools are to be called, and is refused where there are none. */
const ABOUT_TOOLS = ["tool_choice", "parallel_tool_calls"];

/** The fields of a request that some hosts refuse because its list of tools is empty. Nothing is lost but a request for a call. */
export function emptyTools(body: JsonObject): { remove: readonly string[]; notes: readonly FieldNote[] } {
  const { tools, tool_choice: choice } = body;
  if (!Array.isArray(tools) || tools.length > 0) return NOTHING;
  const word = isObject(choice) ? choice["type"] : choice;
  const idle = choice === undefined || choice === null || word === "auto" || word === "none";
  const note: FieldNote = { path: "tool_choice", action: "dropped", reason: "the list of tools is empty" };
  return { remove: ["tools", ...ABOUT_TOOLS], notes: idle ? [] : [note] };
}

const NOTHING = { remove: [], notes: [] };
