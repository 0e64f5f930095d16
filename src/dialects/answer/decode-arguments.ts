import type { DecodeAnswerContext } from "../codec.ts";
import { argumentsText } from "./arguments-text.ts";
import { noteNullArguments } from "./note-null-arguments.ts";

/**
 * The arguments of a call in a response, for protocols that require an object. Any other value that means "no arguments" is
 * noted.
 */
export function decodeArguments(given: unknown, name: string, note: DecodeAnswerContext["note"]): string {
  const text = argumentsText(given);
  if (text !== "") return text;
  if (given !== undefined && given !== "" && note !== undefined)
    noteNullArguments({ name, input: JSON.stringify(given) }, note);
  return "{}";
}
