import { WEB_SEARCH } from "../../canon/billable.ts";
import { decodeError } from "../answer/error-object.ts";
import type { ClientCodec, DecodeAnswerContext, UpstreamCodec } from "../codec.ts";
import { isModeration } from "../reading/moderation-billable.ts";
import { decodeResponse } from "./answer/decode-response.ts";
import { ChatStreamDecoder } from "./answer/decode-stream.ts";
import { encodeResponse } from "./answer/encode-response.ts";
import { ChatStreamEncoder } from "./answer/encode-stream.ts";
import type { ChatQuirks } from "./quirks.ts";
import { decodeRequest } from "./request/decode-request.ts";
import { encodeRequest } from "./request/encode-request.ts";

/** Chat completions through the canon, in both directions. */
export const chatCodec: UpstreamCodec & ClientCodec = {
  name: "chat",
  encodeRequest,
  decodeResponse,
  createStreamDecoder: (context: DecodeAnswerContext<ChatQuirks>) => new ChatStreamDecoder(context),
  decodeError,
  decodeRequest,
  encodeResponse,
  createStreamEncoder: (context) => new ChatStreamEncoder(context),
  encodeTokenCount: (tokens) => JSON.stringify({ total_tokens: tokens }),
  limitHeaders: ["requests", "tokens"].map((limit) => ({
    remaining: `x-ratelimit-remaining-${limit}`,
    reset: `x-ratelimit-reset-${limit}`,
  })),
  oneFamily: false,
  reasoning: {
    shown: "whole",
    unasked: true,
    takesUnsigned: ({ reasoningHistory }: ChatQuirks) => reasoningHistory !== "drop",
  },
  limitsReasoning: ({ limitsReasoning }: ChatQuirks) => limitsReasoning,
  isUncounted: (tool) => tool === WEB_SEARCH || tool.startsWith("plugin:"),
  takesHosted: (crossing, { accountFields }: ChatQuirks) => accountFields && isModeration(crossing),
  takesSearch: ({ webSearch }: ChatQuirks) => webSearch,
  goesOn: ({ prefill }: ChatQuirks) => prefill !== "none",
  showsImages: true,
};
