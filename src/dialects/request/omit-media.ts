import type { MediaPart } from "../../canon/part.ts";
import { answerNote } from "../answer/answer-note.ts";
import type { EncodeAnswerContext } from "../codec.ts";

/** The text that replaces media which the client's protocol cannot represent, with a note in the receipt (H09). */
export function omitMedia({ kind }: MediaPart, note: EncodeAnswerContext["note"]): string {
  note(answerNote("content", "dropped", `responses of this protocol cannot contain the model's ${kind}`));
  return `[${kind} omitted: this protocol has no place for it]`;
}
