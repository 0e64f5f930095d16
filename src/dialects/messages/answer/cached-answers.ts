import type { CachedAnswers } from "../../answer/cached-answers.ts";

export const cachedAnswers: CachedAnswers = {
  ignored: { metadata: "tells end users apart, for reports of abuse" },
  ids: [["id"], ["message", "id"]],
  times: [],
};
