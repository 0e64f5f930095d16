import { objectAt, stringAt } from "../../base/json.ts";
import type { Notes } from "../../canon/notes.ts";
import type { CustomTool, FunctionTool } from "../../canon/tool.ts";

/** The only argument of a function that replaces a free-text tool. */
export const FREE_TEXT_ARGUMENT = "input";

/**
 * A free-text tool for a target that only has functions. The grammar of the text, which such targets do not enforce, goes into
 * the description.
 */
export function freeTextFunction(tool: CustomTool, formatPath: string, notes: Notes): FunctionTool {
  const { format, description, ...rest } = tool;
  notes.approximated(
    tool.path,
    `this protocol has no free-text tools; sent as a function with one argument, ${FREE_TEXT_ARGUMENT}`,
  );
  const grammar = stringAt(objectAt(format, "grammar"), "definition");
  if (grammar !== undefined)
    notes.approximated(formatPath, "this provider does not enforce grammars; the grammar was added to the description");
  else if (format !== undefined && format["type"] !== "text")
    notes.dropped(formatPath, "this provider does not enforce grammars");
  const rule = grammar === undefined ? [] : [`Its ${FREE_TEXT_ARGUMENT} must follow this grammar:\n${grammar}`];
  const words = [...(description === undefined ? [] : [description]), ...rule].join("\n\n");
  const properties = { [FREE_TEXT_ARGUMENT]: { type: "string" } };
  return {
    ...rest,
    type: "function",
    ...(words === "" ? {} : { description: words }),
    schema: { type: "object", properties, required: [FREE_TEXT_ARGUMENT] },
  };
}
