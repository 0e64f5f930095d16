import type { ToolCallPart } from "../../canon/part.ts";
import type { EncodeAnswerContext } from "../codec.ts";
import { answerNote } from "./answer-note.ts";
import { meansNoArguments } from "./means-no-arguments.ts";

/** Notes a call whose arguments are null, for a client that gets an empty object instead (H49). */
export function noteNullArguments(
  call: Pick<ToolCallPart, "name" | "input" | "custom">,
  note: EncodeAnswerContext["note"],
): void {
  if (!meansNoArguments(call)) return;
  const reason = `the model called ${call.name} with ${call.input.trim()}; an empty object was sent`;
  note(answerNote("content", "approximated", reason));
}
