import { isObject, type JsonObject } from "../../base/json.ts";
import { fitToolId, type ToolIdRule } from "../../canon/tool-id.ts";
import { parseInOrder } from "../../wire/ordered-json.ts";
import { meansNoArguments } from "../answer/means-no-arguments.ts";

const TOOL_ID: ToolIdRule = { pattern: /^[a-zA-Z0-9_-]{1,64}$/, make: (seed) => `toolu_${seed}` };

/** The id of a call or its result, in a form that the dialect allows. */
export const fitCallId = (id: string): string => fitToolId(id, TOOL_ID);

/**
 * The arguments as the object that the dialect requires, in the order of the text; undefined if they are not an object. Hosts
 * express missing arguments in several ways.
 */
export function parseInput(text: string): JsonObject | undefined {
  if (text.trim() === "" || meansNoArguments({ input: text })) return {};
  try {
    const value = parseInOrder(text);
    return isObject(value) ? value : undefined;
  } catch {
    // The model wrote invalid JSON, or was cut off inside it.
    return undefined;
  }
}
