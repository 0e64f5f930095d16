import { isObject, type Json, type JsonObject } from "../../../json.ts";
import { emptyPrompt } from "../../../text/adapter.ts";
import type { Prompt } from "../../../text/prompt.ts";
import { refuseUnknown } from "../request-fields.ts";
import { missing, optionalBoolean, optionalNumber, wrongType } from "../text/check.ts";
import { invalid } from "../text/errors.ts";
import { readStop } from "../text/read-request.ts";

const FIELDS =
  `model prompt suffix max_tokens temperature top_p n stream stream_options logprobs echo stop presence_penalty
  frequency_penalty best_of logit_bias user seed`.split(/\s+/);

/** What the host writes where nothing says how much. */
const DEFAULT_TOKENS = 16;

export interface CompletionRequest {
  prompt: Prompt;
  stream: boolean;
  includeUsage: boolean;
  /** Said again before the answer. */
  echo: string;
}

/** Tokens are numbers: the simulator has no words for them. */
function textOf(prompt: Json | undefined): string {
  if (prompt === undefined) throw missing("prompt");
  if (typeof prompt === "string") return prompt;
  if (!Array.isArray(prompt)) throw wrongType(prompt, "one of a string or array", "prompt");
  const [only, ...others] = prompt;
  if (others.length > 0 && typeof only === "string") {
    throw invalid("The simulator completes one prompt at a time.", "prompt", "invalid_value");
  }
  return typeof only === "string" ? only : `${prompt.flat().length} tokens`;
}

export function readCompletion(body: JsonObject): CompletionRequest {
  refuseUnknown(Object.keys(body), FIELDS);
  optionalNumber(body, "temperature", [0, 2]);
  optionalNumber(body, "top_p", [0, 1]);
  if ((optionalNumber(body, "n", [1, 128], true) ?? 1) > 1) {
    throw invalid("The simulator gives one choice: 'n' must be 1.", "n", "invalid_value");
  }
  const text = textOf(body.prompt);
  const maxTokens = optionalNumber(body, "max_tokens", [0, Number.MAX_SAFE_INTEGER], true) ?? DEFAULT_TOKENS;
  return {
    prompt: {
      ...emptyPrompt(),
      turns: [{ role: "user", parts: [{ type: "text", text }] }],
      maxTokens,
      stop: readStop(body.stop),
    },
    stream: optionalBoolean(body, "stream") ?? false,
    includeUsage: isObject(body.stream_options) && body.stream_options.include_usage === true,
    echo: optionalBoolean(body, "echo") === true ? text : "",
  };
}
