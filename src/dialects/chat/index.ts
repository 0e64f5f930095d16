// https://platform.openai.com/docs/api-reference/chat

import { numberAt } from "../../base/json.ts";
import type { Dialect, NativeAnswerContext } from "../dialect.ts";
import { estimateTokens } from "../reading/estimate-tokens.ts";
import { rewriteRequest } from "../rewrite-request.ts";
import { answerTexts } from "./answer/answer-texts.ts";
import { cachedAnswers } from "./answer/cached-answers.ts";
import { encodeError, encodeStreamError } from "./answer/errors.ts";
import { ChatTap } from "./answer/tap.ts";
import { billables } from "./billables.ts";
import { chatCodec } from "./codec.ts";
import { endpoints, readCall } from "./endpoints.ts";
import { chatFileParts } from "./file-parts.ts";
import { listedCompletions } from "./listed.ts";
import { modelLists } from "./model-list.ts";
import { PRICED_FIELDS, patchAnswer, prepareRequest, UNREAD_TEXTS } from "./native.ts";
import { needsCanon } from "./needs-canon.ts";
import { chatObjects } from "./object-fields.ts";
import type { ChatQuirks } from "./quirks.ts";
import { decodeReasoning } from "./reasoning.ts";
import { checkChatRequest } from "./schema/check-request.ts";
import { textPlaces } from "./text-places.ts";
import { usualForm } from "./usual-form.ts";

/** Chat completions: contract 2.12–2.13, streamed as `chat.completion.chunk` objects and a `[DONE]` sentinel. */
export const chat: Dialect = {
  name: "chat",
  codec: chatCodec,
  native: {
    needsCanon,
    prepareRequest,
    patchAnswer,
    unreadTexts: UNREAD_TEXTS,
    createTap: (context: NativeAnswerContext<ChatQuirks>) => new ChatTap(context),
  },
  requests: {
    check: (request, context) => {
      if (context.door === "contract") {
        return rewriteRequest(request, checkChatRequest(request.body, context), checkChatRequest.withoutNulls);
      }
      const usual = usualForm(request.body);
      const body = checkChatRequest(usual, usual === request.body ? context : { ...context, levels: undefined });
      return rewriteRequest(request, body, (exact) => checkChatRequest.withoutNulls(usualForm(exact)));
    },
    estimateTokens: (body, surplusBytes) =>
      estimateTokens([body["messages"], body["tools"], body["response_format"]], surplusBytes),
    outputLimit: (body) => numberAt(body, "max_completion_tokens") ?? numberAt(body, "max_tokens"),
    answerCount: () => 1,
    reasoning: (body) => decodeReasoning(body).desired,
    objects: chatObjects,
    fileParts: chatFileParts,
    pricedFields: PRICED_FIELDS,
    texts: textPlaces,
    billables,
    conversation: { before: ["tools"], turns: "messages" },
  },
  errors: { encode: encodeError, encodeInStream: encodeStreamError },
  texts: answerTexts,
  cached: cachedAnswers,
  http: {
    endpoints,
    readCall,
    readModel: ({ id = "" }) => id,
    keyHeaders: ["authorization", "x-api-key", "x-goog-api-key"],
    requestIdHeader: "x-request-id",
    models: modelLists,
    keepAlive: ": keep-alive\n\n",
    streamType: () => "text/event-stream",
  },
  listed: listedCompletions,
};
