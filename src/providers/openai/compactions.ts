// https://platform.openai.com/docs/api-reference/responses/compact

import { decodeUsage } from "../../dialects/responses/answer/usage.ts";
import type { CompactionAdapter } from "../../services/compaction/compaction-adapter.ts";
import { emptyAnswer, mediaFailure } from "../media-adapters/media-failure.ts";
import { OPENAI_CODES } from "./errors.ts";

export const openaiCompactions: CompactionAdapter = {
  serves: () => true,
  submit: (body, { model }) => ({ method: "POST", url: "/responses/compact", body: { json: { ...body, model } } }),
  read: ({ body }) => {
    if (body === undefined || !Array.isArray(body["output"])) throw emptyAnswer("output");
    const usage = decodeUsage(body["usage"]);
    return usage === undefined ? { body } : { body, usage };
  },
  error: (answer) => mediaFailure(answer, OPENAI_CODES),
};
