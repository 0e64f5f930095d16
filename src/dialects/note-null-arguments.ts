import type { ToolCallPart } from "../canon/part.ts";
import { answerNote } from "./answer-note.ts";
import type { EncodeAnswerContext } from "./codec.ts";

/** Notes a call whose arguments are null, for a client whose protocol has objects alone. Hosts mean by it that there are none (H49). */
export function noteNullArguments(
  { name, input, custom }: Pick<ToolCallPart, "name" | "input" | "custom">,
  note: EncodeAnswerContext["note"],
): void {
  if (custom || input.trim() !== "null") return;
  note(answerNote("content", "approximated", `the model called ${name} with null; an empty object was sent`));
}
