// https://platform.openai.com/docs/api-reference/chat

import { numberAt } from "../../base/json.ts";
import type { Dialect, NativeAnswerContext } from "../dialect.ts";
import { estimateTokens } from "../estimate-tokens.ts";
import { rewriteRequest } from "../rewrite-request.ts";
import { chatCodec } from "./codec.ts";
import { decodeError, encodeError, encodeStreamError } from "./errors.ts";
import { PRICED_FIELDS, patchAnswer, prepareRequest } from "./native.ts";
import { needsCanon } from "./needs-canon.ts";
import type { ChatQuirks } from "./quirks.ts";
import { decodeReasoning } from "./reasoning.ts";
import { checkChatRequest } from "./schema.ts";
import { ChatTap } from "./tap.ts";

/** Chat completions: contract 2.12–2.13, streamed as `chat.completion.chunk` objects and a `[DONE]` sentinel. */
export const chat: Dialect = {
  name: "chat",
  requestIdHeader: "x-request-id",
  keepAlive: ": keep-alive\n\n",
  checkRequest: (request, context) => {
    const body = checkChatRequest(request.body, context);
    return rewriteRequest(request, body, checkChatRequest.withoutNulls);
  },
  streamType: () => "text/event-stream",
  codec: chatCodec,
  needsCanon,
  decodeError,
  encodeError,
  encodeStreamError,
  prepareRequest,
  patchAnswer,
  createTap: (context: NativeAnswerContext<ChatQuirks>) => new ChatTap(context),
  estimateTokens: (body) => estimateTokens([body["messages"], body["tools"], body["response_format"]]),
  encodeTokenCount: (tokens) => JSON.stringify({ total_tokens: tokens }),
  outputLimit: (body) => numberAt(body, "max_completion_tokens") ?? numberAt(body, "max_tokens"),
  reasoningWish: (body) => decodeReasoning(body).wish,
  pricedFields: PRICED_FIELDS,
  answerCount: () => 1,
};
