import { type JsonObject, numberAt } from "../../base/json.ts";
import { CODE_EXECUTION, MCP, WEB_SEARCH } from "../../canon/billable.ts";
import type { ClientCodec, DecodeAnswerContext, TokenCounting, UpstreamCodec } from "../codec.ts";
import { isModeration } from "../reading/moderation-billable.ts";
import { decodeResponse } from "./answer/decode-response.ts";
import { ResponsesStreamDecoder } from "./answer/decode-stream.ts";
import { encodeResponse } from "./answer/encode-response.ts";
import { ResponsesStreamEncoder } from "./answer/encode-stream.ts";
import { decodeError } from "./answer/errors.ts";
import type { ResponsesQuirks } from "./quirks.ts";
import { decodeRequest } from "./request/decode-request.ts";
import { encodeRequest } from "./request/encode-request.ts";
import { MIN_OUTPUT } from "./request/encode-settings.ts";
import { OWN_ORIGIN } from "./request/reasoning.ts";

/** Fields that are part of the prompt. The counter rejects those that affect only the response. */
const PROMPT = ["model", "instructions", "input", "tools", "tool_choice", "parallel_tool_calls", "reasoning", "text"];

const counting: TokenCounting = {
  encodeRequest: (body): JsonObject => Object.fromEntries(Object.entries(body).filter(([key]) => PROMPT.includes(key))),
  decodeAnswer: (body) => numberAt(body, "input_tokens"),
};

const takesTool = (type: string, { toolTypes }: ResponsesQuirks): boolean => toolTypes?.includes(type) ?? true;

/** The types of the tools that other dialects have too. */
const HOSTED_TYPES: ReadonlyMap<string, string> = new Map([
  [CODE_EXECUTION, "code_interpreter"],
  [MCP, "mcp"],
]);

/** Responses through the canon, in both directions. */
export const responsesCodec: UpstreamCodec & ClientCodec = {
  name: OWN_ORIGIN,
  encodeRequest,
  decodeResponse,
  createStreamDecoder: (context: DecodeAnswerContext) => new ResponsesStreamDecoder(context),
  decodeError,
  limitHeaders: ["requests", "tokens"].map((limit) => ({
    remaining: `x-ratelimit-remaining-${limit}`,
    reset: `x-ratelimit-reset-${limit}`,
  })),
  counting,
  leastOutputLimit: MIN_OUTPUT,
  oneFamily: true,
  reasoning: { shown: "summary", unasked: true },
  takesTool,
  takesSearch: (quirks: ResponsesQuirks) => takesTool(WEB_SEARCH, quirks),
  takesHosted: (crossing, quirks: ResponsesQuirks) => {
    if (isModeration(crossing)) return quirks.accountFields;
    const type = HOSTED_TYPES.get(crossing);
    return type !== undefined && takesTool(type, quirks);
  },
  decodeRequest,
  encodeResponse,
  createStreamEncoder: (context) => new ResponsesStreamEncoder(context),
  encodeTokenCount: (tokens) => JSON.stringify({ object: "response.input_tokens", input_tokens: tokens }),
  showsImages: true,
};
