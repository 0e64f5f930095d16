// https://platform.openai.com/docs/api-reference/responses

import { numberAt } from "../../base/json.ts";
import { modelLists } from "../chat/model-list.ts";
import type { Dialect, NativeAnswerContext } from "../dialect.ts";
import { rewriteRequest } from "../rewrite-request.ts";
import { answerTexts } from "./answer/answer-texts.ts";
import { cachedAnswers } from "./answer/cached-answers.ts";
import { belongsInStream, encodeError, encodeStreamError } from "./answer/errors.ts";
import { markSealed } from "./answer/sealed-reasoning.ts";
import { ResponsesTap } from "./answer/tap.ts";
import { billables } from "./billables.ts";
import { responsesCodec } from "./codec.ts";
import { endpoints, readCall } from "./endpoints.ts";
import { estimateResponsesTokens } from "./estimate.ts";
import { hostedImages } from "./hosted-images.ts";
import { PRICED_FIELDS, patchAnswer, prepareRequest, UNREAD_TEXTS } from "./native.ts";
import { needsCanon } from "./needs-canon.ts";
import { responsesObjects } from "./object-fields.ts";
import type { ResponsesQuirks } from "./quirks.ts";
import { responsesFileParts } from "./request/file-parts.ts";
import { namedModels } from "./request/named-models.ts";
import { decodeReasoning } from "./request/reasoning.ts";
import { checkResponsesRequest } from "./schema/check-request.ts";
import { storedResponses } from "./stored.ts";
import { textPlaces } from "./text-places.ts";
import { usualForm } from "./usual-form.ts";

/** Responses: items in, items out, streamed as named events. The last event has the whole response. */
export const responses: Dialect = {
  name: "responses",
  codec: responsesCodec,
  native: {
    needsCanon,
    prepareRequest,
    patchAnswer,
    unreadTexts: UNREAD_TEXTS,
    createTap: (context: NativeAnswerContext<ResponsesQuirks>) => new ResponsesTap(context),
  },
  requests: {
    check: (request, context) => {
      if (context.door === "contract") {
        const body = checkResponsesRequest(request.body, context);
        return rewriteRequest(request, body, checkResponsesRequest.withoutNulls);
      }
      const usual = usualForm(request.body);
      const body = checkResponsesRequest(usual, context);
      return rewriteRequest(request, body, (exact) => checkResponsesRequest.withoutNulls(usualForm(exact)));
    },
    estimateTokens: estimateResponsesTokens,
    outputLimit: (body) => numberAt(body, "max_output_tokens"),
    answerCount: () => 1,
    reasoning: (body) => decodeReasoning(body).desired,
    objects: responsesObjects,
    fileParts: responsesFileParts,
    pricedFields: PRICED_FIELDS,
    texts: textPlaces,
    billables,
    namedModels,
    conversation: { before: ["instructions", "tools"], turns: "input" },
  },
  errors: { encode: encodeError, encodeInStream: encodeStreamError, belongsInStream },
  texts: answerTexts,
  cached: cachedAnswers,
  http: {
    endpoints,
    readCall,
    readModel: ({ id = "" }) => id,
    pathHint: /\/responses(?:\/|$)/,
    keyHeaders: ["authorization", "x-api-key", "x-goog-api-key"],
    requestIdHeader: "x-request-id",
    models: modelLists,
    keepAlive: ": keep-alive\n\n",
    streamType: () => "text/event-stream",
  },
  stored: storedResponses,
  markSealed,
  hostedImages,
};
