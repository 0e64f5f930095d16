// https://platform.openai.com/docs/api-reference/moderations

import { objectAt } from "../../base/json.ts";
import { decodeUsage } from "../../dialects/chat/answer/usage.ts";
import type { ModerationAdapter } from "../../services/moderation/moderation-adapter.ts";
import { emptyAnswer, mediaFailure } from "../media-adapters/media-failure.ts";
import { OPENAI_CODES } from "./errors.ts";

export const openaiModerations = (serves: (model: string) => boolean): ModerationAdapter => ({
  serves,
  submit: (body, { model }) => ({ method: "POST", url: "/moderations", body: { json: { ...body, model } } }),
  read: ({ body }) => {
    if (body === undefined || !Array.isArray(body["results"])) throw emptyAnswer("results");
    const usage = decodeUsage(objectAt(body, "usage"));
    return usage === undefined ? { body } : { body, usage };
  },
  error: (answer) => mediaFailure(answer, OPENAI_CODES),
});
