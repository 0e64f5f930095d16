import type { MediaPart } from "../../canon/part.ts";
import { answerNote } from "../answer/answer-note.ts";
import type { EncodeAnswerContext } from "../codec.ts";

/** The words that stand in an answer for media which the client's protocol has no place for. The receipt says so too (H09). */
export function omitMedia({ kind }: MediaPart, note: EncodeAnswerContext["note"]): string {
  note(answerNote("content", "dropped", `answers of this protocol have no place for the model's ${kind}`));
  return `[${kind} omitted: this protocol has no place for it]`;
}
