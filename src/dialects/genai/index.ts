import { isObject, numberAt, objectAt } from "../../canon/json.ts";
import type { Dialect, ReceivedRequest } from "../dialect.ts";
import { estimateTokens } from "../estimate-tokens.ts";
import { genaiCodec } from "./codec.ts";
import { decodeError, encodeError, encodeStreamError } from "./errors.ts";
import { carriesForeign } from "./foreign.ts";
import { patchAnswer, prepareRequest } from "./native.ts";
import { normaliseGenaiRequest } from "./normalise.ts";
import { checkGenaiCountTokensRequest, checkGenerateContentRequest } from "./schema.ts";
import { GenaiTap } from "./tap.ts";

/** The generative-content protocol: contract 2.6–2.8, streamed as response-shaped chunks with no closing sentinel. */
export const genai: Dialect = {
  name: "genai",
  requestIdHeader: undefined,
  keepAlive: undefined,
  checkRequest: (request, context) => {
    // A request in another spelling is written anew in the protocol's own; all others keep their bytes.
    const { body, changed } = normaliseGenaiRequest(request.body);
    if (context.verb === "count_tokens") checkGenaiCountTokensRequest(body, context);
    else checkGenerateContentRequest(body, context);
    return changed ? rewritten(body) : request;
  },
  codec: genaiCodec,
  carriesForeign,
  decodeError,
  encodeError,
  encodeStreamError,
  prepareRequest,
  patchAnswer,
  createTap: (context) => new GenaiTap(context),
  estimateTokens: (body) => estimateTokens([body["systemInstruction"], body["contents"], body["tools"]]),
  encodeTokenCount: (tokens) => JSON.stringify({ totalTokens: tokens }),
  outputLimit: (body) => numberAt(objectAt(body, "generationConfig"), "maxOutputTokens"),
};

function rewritten(body: unknown): ReceivedRequest {
  const text = JSON.stringify(body);
  return { text, body: isObject(body) ? body : {} };
}
