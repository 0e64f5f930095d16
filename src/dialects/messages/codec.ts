import { type JsonObject, numberAt } from "../../base/json.ts";
import { CODE_EXECUTION, MCP, WEB_FETCH } from "../../canon/billable.ts";
import type { ClientCodec, TokenCounting, UpstreamCodec } from "../codec.ts";
import { decodeResponse } from "./answer/decode-response.ts";
import { MessagesStreamDecoder } from "./answer/decode-stream.ts";
import { encodeResponse } from "./answer/encode-response.ts";
import { MessagesStreamEncoder } from "./answer/encode-stream.ts";
import { decodeError } from "./answer/errors.ts";
import type { MessagesQuirks } from "./quirks.ts";
import { decodeRequest } from "./request/decode-request.ts";
import { encodeRequest } from "./request/encode-request.ts";

/** Fields that only shape the response are not part of the prompt, and the counter rejects them. */
const PROMPT = ["model", "system", "messages", "tools", "tool_choice", "thinking"];

const counting: TokenCounting = {
  encodeRequest: (body): JsonObject => Object.fromEntries(Object.entries(body).filter(([key]) => PROMPT.includes(key))),
  decodeAnswer: (body) => numberAt(body, "input_tokens"),
};

/** The messages protocol through the canon, for providers and for clients. */
export const messagesCodec: UpstreamCodec & ClientCodec = {
  name: "messages",
  decodeRequest,
  encodeRequest,
  decodeResponse,
  encodeResponse,
  createStreamDecoder: (context) => new MessagesStreamDecoder(context),
  createStreamEncoder: (context) => new MessagesStreamEncoder(context),
  decodeError,
  counting,
  encodeTokenCount: (tokens) => JSON.stringify({ input_tokens: tokens }),
  limitHeaders: ["requests", "tokens", "input-tokens", "output-tokens"].map((limit) => ({
    remaining: `anthropic-ratelimit-${limit}-remaining`,
    reset: `anthropic-ratelimit-${limit}-reset`,
  })),
  oneFamily: true,
  reasoning: { shown: "summary", unasked: false },
  takesHosted: (crossing, { hostedTools, mcpServers }: MessagesQuirks) =>
    crossing === MCP ? mcpServers : hostedTools && (crossing === WEB_FETCH || crossing === CODE_EXECUTION),
  showsImages: false,
};
