import type { CachedAnswers } from "../../answer/cached-answers.ts";

export const cachedAnswers: CachedAnswers = {
  ignored: { labels: "are shown on the provider's bill" },
  ids: [["responseId"]],
  times: [["createTime"]],
};
