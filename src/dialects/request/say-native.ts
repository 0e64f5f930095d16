import type { NativePart } from "../../canon/part.ts";
import { answerNote } from "../answer/answer-note.ts";
import type { EncodeAnswerContext } from "../codec.ts";

/**
 * The text of a block that the client's protocol cannot represent otherwise, empty if it has none. It is noted in the receipt.
 */
export function sayNative({ name, text }: NativePart, note: EncodeAnswerContext["note"]): string {
  if (!text) return "";
  note(
    answerNote(
      "content",
      "approximated",
      `responses of this protocol cannot contain ${name}; its text was sent instead`,
    ),
  );
  return text;
}
