import type { JsonObject } from "../../base/json.ts";
import type { DecodeAnswerContext } from "../codec.ts";
import { answerNote } from "./answer-note.ts";

const LOST = answerNote("moderation", "dropped", "the client's protocol has another form for moderation results");

/** A provider moderates a call on request. Its blocks are errors, but its scores have a form of their own in each dialect. */
export function noteModeration({ moderation }: JsonObject, note: DecodeAnswerContext["note"]): void {
  if (moderation !== undefined && moderation !== null) note?.(LOST);
}
