import type { FieldNote } from "../../canon/receipt.ts";

/** What a response can lose on its way to a client of another protocol. */
type AnswerLoss =
  | "content"
  | "citations"
  | "moderation"
  | "stop"
  | "stop_details"
  | "url_context"
  | "continuation"
  | "transcription";

/** A note in the receipt about the response rather than the request (decision 0091). */
export const answerNote = (what: AnswerLoss, action: FieldNote["action"], reason: string): FieldNote => ({
  path: `answer.${what}`,
  action,
  reason,
});
