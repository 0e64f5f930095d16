import { numberAt } from "../../src/base/json.ts";
import type { Dialect } from "../../src/dialects/dialect.ts";
import { estimateTokens } from "../../src/dialects/reading/estimate-tokens.ts";
import { rewriteRequest } from "../../src/dialects/rewrite-request.ts";
import { plainCodec } from "./codec.ts";
import { endpoints, readCall } from "./endpoints.ts";
import { encodeError, encodeStreamError } from "./errors.ts";
import { modelLists } from "./model-list.ts";
import { patchAnswer, prepareRequest } from "./native.ts";
import { checkPlainRequest } from "./schema.ts";
import { PlainTap } from "./tap.ts";

/** A minimal protocol of our own, against which docs/adding-a-dialect.md is tested. */
export const plain: Dialect = {
  name: "plain",
  codec: plainCodec,
  native: {
    needsCanon: () => false,
    prepareRequest,
    patchAnswer,
    createTap: () => new PlainTap(),
  },
  requests: {
    check: (request, context) =>
      rewriteRequest(request, checkPlainRequest(request.body, context), checkPlainRequest.withoutNulls),
    estimateTokens: (body) => estimateTokens([body["lines"]]),
    outputLimit: (body) => numberAt(body, "most"),
    answerCount: () => 1,
    reasoning: () => undefined,
    pricedFields: {},
    billables: () => [],
    conversation: { before: [], turns: "lines" },
  },
  errors: { encode: encodeError, encodeInStream: encodeStreamError },
  texts: {
    repeats: false,
    pieces: (event) => (typeof event["text"] === "string" ? [{ path: "text", block: "text" }] : []),
    ends: () => [],
  },
  http: {
    endpoints,
    readCall,
    readModel: ({ id = "" }) => id,
    pathHint: /^\/api\/plain\b/,
    keyHeaders: ["authorization", "x-api-key", "x-goog-api-key"],
    requestIdHeader: undefined,
    models: modelLists,
    keepAlive: ": wait\n\n",
    streamType: () => "text/event-stream",
  },
};
