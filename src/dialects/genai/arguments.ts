import { isObject, type JsonObject } from "../../base/json.ts";
import type { ToolCallPart } from "../../canon/part.ts";
import { parseInOrder } from "../../wire/ordered-json.ts";
import { meansNoArguments } from "../answer/means-no-arguments.ts";
import { FREE_TEXT_ARGUMENT } from "../request/free-text-tool.ts";

/**
 * A call's arguments as the object that this dialect requires; empty if the model wrote invalid JSON. Hosts express missing
 * arguments in several ways.
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

/** Parses an object and keeps the order of its keys; undefined if the text is not an object. */
export function parseArguments(text: string): JsonObject | undefined {
  try {
    const value = parseInOrder(text);
    return isObject(value) ? value : undefined;
  } catch {
    // The arguments were cut off, or are not JSON.
    return undefined;
  }
}
