// https://ai.google.dev/api/interactions-api

import { numberAt, objectAt } from "../../base/json.ts";
import type { Dialect, NativeAnswerContext } from "../dialect.ts";
import { IMPLIED_PUBLISHER } from "../genai/endpoints.ts";
import { modelLists } from "../genai/model-list.ts";
import { estimateTokens } from "../reading/estimate-tokens.ts";
import { rewriteRequest } from "../rewrite-request.ts";
import { answerTexts } from "./answer/answer-texts.ts";
import { cachedAnswers } from "./answer/cached-answers.ts";
import { encodeError, encodeStreamError } from "./answer/errors.ts";
import { InteractionsTap } from "./answer/tap.ts";
import { billables } from "./billables.ts";
import { interactionsCodec } from "./codec.ts";
import { endpoints, readCall } from "./endpoints.ts";
import { interactionsFileParts } from "./file-parts.ts";
import { PRICED_FIELDS, patchAnswer, prepareRequest } from "./native.ts";
import { needsCanon } from "./needs-canon.ts";
import { interactionsObjects } from "./object-fields.ts";
import { decodeReasoning } from "./request/settings.ts";
import { checkInteractionsRequest } from "./schema/check-request.ts";
import { OWN_ORIGIN } from "./signature.ts";
import { storedInteractions } from "./stored.ts";

const CONFIG = "generation_config";

/** Interactions: steps in, steps out, streamed as named events. The stored state of a conversation is the gateway's. */
export const interactions: Dialect = {
  name: OWN_ORIGIN,
  codec: interactionsCodec,
  native: {
    needsCanon,
    prepareRequest,
    patchAnswer,
    createTap: (context: NativeAnswerContext) => new InteractionsTap(context),
  },
  requests: {
    check: (request, context) => {
      const body = checkInteractionsRequest(request.body, context);
      return rewriteRequest(request, body, checkInteractionsRequest.withoutNulls);
    },
    estimateTokens: (body, surplusBytes) =>
      estimateTokens([body["system_instruction"], body["input"], body["tools"], body["response_format"]], surplusBytes),
    outputLimit: (body) => numberAt(objectAt(body, CONFIG), "max_output_tokens"),
    answerCount: () => 1,
    reasoning: (body) => decodeReasoning(objectAt(body, CONFIG)),
    objects: interactionsObjects,
    fileParts: interactionsFileParts,
    pricedFields: PRICED_FIELDS,
    billables,
    conversation: { before: ["system_instruction", "tools"], turns: "input" },
  },
  errors: { encode: encodeError, encodeInStream: encodeStreamError },
  texts: answerTexts,
  cached: cachedAnswers,
  http: {
    endpoints,
    readCall,
    readModel: ({ id = "" }) => id,
    pathHint: /\/interactions(?:\/|$)/,
    keyHeaders: ["authorization", "x-goog-api-key", "x-api-key"],
    impliedPublisher: IMPLIED_PUBLISHER,
    requestIdHeader: undefined,
    models: modelLists,
    keepAlive: ": keep-alive\n\n",
    streamType: () => "text/event-stream",
  },
  stored: storedInteractions,
};
