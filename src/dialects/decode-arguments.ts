import { argumentsText } from "./arguments-text.ts";
import type { DecodeAnswerContext } from "./codec.ts";
import { noteNullArguments } from "./note-null-arguments.ts";

/** The arguments of an answer's call, of a protocol that has an object for them. Another value that means that there are none is noted. */
export function decodeArguments(given: unknown, name: string, note: DecodeAnswerContext["note"]): string {
  const text = argumentsText(given);
  if (text !== "") return text;
  if (given !== undefined && given !== "" && note !== undefined)
    noteNullArguments({ name, input: JSON.stringify(given) }, note);
  return "{}";
}
