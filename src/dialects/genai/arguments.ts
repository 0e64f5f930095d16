import { isObject, type JsonObject } from "../../base/json.ts";
import type { ToolCallPart } from "../../canon/part.ts";
import { parseInOrder } from "../../wire/ordered-json.ts";
import { meansNoArguments } from "../answer/means-no-arguments.ts";
import { FREE_TEXT_ARGUMENT } from "../request/free-text-tool.ts";

/**
 * A call's arguments as the object that this dialect wants; empty where the model broke its own JSON. Hosts say in several
 * ways that a call has no arguments.
 */
export function encodeArguments({ input, custom }: Pick<ToolCallPart, "input" | "custom">): {
  args: JsonObject;
  broken: boolean;
} {
  if (custom) return { args: { [FREE_TEXT_ARGUMENT]: input }, broken: false };
  if (input.trim() === "" || meansNoArguments({ input })) return { args: {}, broken: false };
  const args = parseArguments(input);
  return { args: args ?? {}, broken: args === undefined };
}

/** An object's text read in the order of its keys; undefined where it is none. */
export function parseArguments(text: string): JsonObject | undefined {
  try {
    const value = parseInOrder(text);
    return isObject(value) ? value : undefined;
  } catch {
    // The model broke off in the middle, or never spoke JSON.
    return undefined;
  }
}
