import type { CachedAnswers } from "../../answer/cached-answers.ts";

export const cachedAnswers: CachedAnswers = {
  ignored: {},
  ids: [["id"], ["interaction", "id"], ["interaction_id"]],
  times: [["created"], ["updated"], ["interaction", "created"], ["interaction", "updated"]],
};
