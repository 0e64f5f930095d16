// https://ai.google.dev/api/generate-content

import { numberAt, objectAt } from "../../base/json.ts";
import type { Dialect, NativeAnswerContext } from "../dialect.ts";
import { estimateTokens } from "../estimate-tokens.ts";
import { rewriteRequest } from "../rewrite-request.ts";
import { genaiCodec } from "./codec.ts";
import { decodeError, encodeError, encodeStreamError } from "./errors.ts";
import { PRICED_FIELDS, patchAnswer, prepareRequest } from "./native.ts";
import { needsCanon } from "./needs-canon.ts";
import { normaliseGenaiRequest } from "./normalise.ts";
import { type GenaiOptions, streamType } from "./options.ts";
import { withoutOtherModels } from "./other-models.ts";
import type { GenaiQuirks } from "./quirks.ts";
import { decodeThinking } from "./reasoning.ts";
import { checkGenaiCountTokensRequest, checkGenerateContentRequest } from "./schema.ts";
import { GenaiTap } from "./tap.ts";

/** The generative-content protocol: contract 2.6–2.8, streamed as response-shaped chunks with no closing sentinel. */
export const genai: Dialect = {
  name: "genai",
  requestIdHeader: undefined,
  keepAlive: undefined,
  streamType,
  checkRequest: (request, context) => {
    // A request in another spelling is written anew in the protocol's own; all others keep their bytes.
    const check = context.verb === "count_tokens" ? checkGenaiCountTokensRequest : checkGenerateContentRequest;
    const body = check(normaliseGenaiRequest(request.body), context);
    const checked = rewriteRequest(request, body, (exact) => check.withoutNulls(normaliseGenaiRequest(exact)));
    return withoutOtherModels(checked);
  },
  codec: genaiCodec,
  needsCanon,
  decodeError,
  encodeError,
  encodeStreamError,
  prepareRequest,
  patchAnswer,
  createTap: (context: NativeAnswerContext<GenaiQuirks, GenaiOptions>) => new GenaiTap(context),
  estimateTokens: (body) => {
    // A request to count may hold the whole request that it is about.
    const asked = objectAt(body, "generateContentRequest") ?? body;
    return estimateTokens([asked["systemInstruction"], asked["contents"], asked["tools"]]);
  },
  encodeTokenCount: (tokens) => JSON.stringify({ totalTokens: tokens }),
  outputLimit: (body) => numberAt(objectAt(body, "generationConfig"), "maxOutputTokens"),
  reasoningWish: (body) => {
    const thinking = objectAt(objectAt(body, "generationConfig"), "thinkingConfig");
    return thinking && decodeThinking(thinking).reasoning;
  },
  pricedFields: PRICED_FIELDS,
  answerCount: (body) => numberAt(objectAt(body, "generationConfig"), "candidateCount") ?? 1,
};
