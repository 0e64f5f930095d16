import type { FoundAnswer } from "../../answers/answer-cache.ts";
import type { AnswerPlace } from "../../answers/cached-answer.ts";

/** How the cache of responses takes part in a call. */
export interface AnswerCaching {
  /** Where the response is stored, unless one is found. */
  readonly place: AnswerPlace;
  readonly found: FoundAnswer | undefined;
}
