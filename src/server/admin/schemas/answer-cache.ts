import { Type } from "../../../base/type.ts";
import { MAX_CACHE_MB, MAX_TTL_SECONDS } from "../../../canon/settings/answer-cache-settings.ts";

/** `cache` of a key or a project. */
export const AnswerCache = Type.Object(
  {
    ttl_seconds: Type.Integer({ minimum: 1, maximum: MAX_TTL_SECONDS, description: "How long a response is used." }),
    max_mb: Type.Integer({
      minimum: 1,
      maximum: MAX_CACHE_MB,
      description:
        "How much space all cached responses of the project may take. A project's value overrides its keys'.",
    }),
  },
  { additionalProperties: false, description: "Responses answer equal requests; `null`: they do not." },
);
