import type { CachedAnswers } from "../../answer/cached-answers.ts";

/** Responses repeat `metadata`, `safety_identifier` and `user`, so no field is ignored. */
export const cachedAnswers: CachedAnswers = {
  ignored: {},
  ids: [["id"], ["response", "id"], ["response_id"]],
  times: [["created_at"], ["completed_at"], ["response", "created_at"], ["response", "completed_at"]],
};
