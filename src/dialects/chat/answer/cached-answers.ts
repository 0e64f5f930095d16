import type { CachedAnswers } from "../../answer/cached-answers.ts";

export const cachedAnswers: CachedAnswers = {
  ignored: {
    metadata: "labels a stored completion, and stored completions are not cached",
    safety_identifier: "tells end users apart, for reports of abuse",
    user: "tells end users apart, for reports of abuse",
  },
  ids: [["id"]],
  times: [["created"]],
};
