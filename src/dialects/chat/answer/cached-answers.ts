import type { CachedAnswers } from "../../answer/cached-answers.ts";

export const cachedAnswers: CachedAnswers = {
  ignored: {
    metadata: "labels a stored completion, and stored completions are not cached",
    safety_identifier: "identifies the end user, for reports of abuse",
    user: "identifies the end user, for reports of abuse",
  },
  ids: [["id"]],
  times: [["created"]],
};
