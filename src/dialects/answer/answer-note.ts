import type { FieldNote } from "../../canon/receipt.ts";

/** What an answer can lose on its way to a client of another protocol. */
type AnswerLoss = "content" | "citations" | "stop" | "stop_details" | "url_context";

/** A note in the receipt about an answer, next to those about its request (decision 0091). */
export const answerNote = (what: AnswerLoss, action: FieldNote["action"], reason: string): FieldNote => ({
  path: `answer.${what}`,
  action,
  reason,
});
