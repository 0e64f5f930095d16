import type { JsonObject } from "../../../base/json.ts";

/** A tool that the client runs and that this dialect's models know by its type. Other models get it as a function. */
export interface BuiltInTool {
  /** The type of the tool, and the name of the function. */
  name: string;
  description: string;
  schema: JsonObject;
  /** The prefix of item ids. */
  prefix: string;
  /** What distinguishes an item without arguments. */
  empty: JsonObject;
  /** A call as the arguments of the function. */
  argumentsOf(item: JsonObject): JsonObject;
  /** The reverse: what distinguishes the item. Undefined if the arguments do not make a call. */
  callOf(input: JsonObject): JsonObject | undefined;
  /** The content of a result, as text or parts, and whether it reports a failure. */
  resultOf(item: JsonObject): { content: string | readonly JsonObject[]; isError?: true };
}
