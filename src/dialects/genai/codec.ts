import { type JsonObject, numberAt } from "../../base/json.ts";
import { CODE_EXECUTION, MCP, WEB_FETCH, WEB_SEARCH } from "../../canon/billable.ts";
import type { ClientCodec, EncodeAnswerContext, TokenCounting, UpstreamCodec } from "../codec.ts";
import { decodeResponse } from "./answer/decode-response.ts";
import { GenaiStreamDecoder } from "./answer/decode-stream.ts";
import { encodeResponse } from "./answer/encode-response.ts";
import { GenaiStreamEncoder } from "./answer/encode-stream.ts";
import { decodeError } from "./answer/errors.ts";
import type { GenaiOptions } from "./options.ts";
import type { GenaiQuirks } from "./quirks.ts";
import { decodeRequest } from "./request/decode-request.ts";
import { encodeRequest } from "./request/encode-request.ts";

const PROMPT = ["systemInstruction", "contents", "tools"];

const counting: TokenCounting = {
  encodeRequest: (body, upstreamModel, quirks: GenaiQuirks): JsonObject => {
    const prompt = Object.fromEntries(Object.entries(body).filter(([key]) => PROMPT.includes(key)));
    return quirks.countsWholeRequest
      ? { generateContentRequest: { model: `models/${upstreamModel}`, ...prompt } }
      : prompt;
  },
  decodeAnswer: (body) => numberAt(body, "totalTokens"),
};

/** Other tools whose results come with the last chunk. */
const GROUNDING: ReadonlySet<string> = new Set(["enterpriseWebSearch", "googleMaps", "fileSearch", "retrieval"]);

/** The generative-content protocol through the canon, in both directions. */
export const genaiCodec: UpstreamCodec & ClientCodec = {
  name: "genai",
  decodeRequest,
  encodeRequest,
  decodeResponse,
  encodeResponse,
  createStreamDecoder: (context) => new GenaiStreamDecoder(context),
  createStreamEncoder: (context: EncodeAnswerContext<GenaiOptions>) => new GenaiStreamEncoder(context),
  decodeError,
  counting,
  encodeTokenCount: (tokens) => JSON.stringify({ totalTokens: tokens }),
  oneFamily: true,
  reasoning: { shown: "summary", unasked: true },
  isCountedLast: (tool) => tool === WEB_SEARCH || GROUNDING.has(tool),
  takesHosted: (crossing) => crossing === WEB_FETCH || crossing === CODE_EXECUTION || crossing === MCP,
  showsImages: true,
};
