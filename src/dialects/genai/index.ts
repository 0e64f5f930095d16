// https://ai.google.dev/api/generate-content

import { numberAt, objectAt } from "../../base/json.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import { changeValue, ObjectEdit } from "../../wire/json-text.ts";
import type { Dialect, NativeAnswerContext } from "../dialect.ts";
import { estimateTokens } from "../reading/estimate-tokens.ts";
import { ONE_MODEL } from "../reading/routing-fields.ts";
import type { ReceivedRequest } from "../received-request.ts";
import { rewriteRequest } from "../rewrite-request.ts";
import { answerTexts } from "./answer/answer-texts.ts";
import { cachedAnswers } from "./answer/cached-answers.ts";
import { encodeError, encodeStreamError } from "./answer/errors.ts";
import { GenaiTap } from "./answer/tap.ts";
import { billables } from "./billables.ts";
import { genaiCodec } from "./codec.ts";
import { endpoints, IMPLIED_PUBLISHER, modelInPath, readCall } from "./endpoints.ts";
import { genaiFileParts } from "./file-parts.ts";
import { modelLists } from "./model-list.ts";
import { PRICED_FIELDS, patchAnswer, prepareRequest, UNREAD_TEXTS } from "./native.ts";
import { needsCanon } from "./needs-canon.ts";
import { normaliseGenaiRequest } from "./normalise.ts";
import { genaiObjects } from "./object-fields.ts";
import { type GenaiOptions, streamType } from "./options.ts";
import type { GenaiQuirks } from "./quirks.ts";
import { decodeThinking } from "./request/reasoning.ts";
import { checkGenaiCountTokensRequest, checkGenerateContentRequest } from "./schema/check-request.ts";
import { textPlaces } from "./text-places.ts";

/** The generative-content protocol: contract 2.6–2.8, streamed as response-shaped chunks with no closing sentinel. */
export const genai: Dialect = {
  name: "genai",
  codec: genaiCodec,
  native: {
    needsCanon,
    prepareRequest,
    patchAnswer,
    unreadTexts: UNREAD_TEXTS,
    createTap: (context: NativeAnswerContext<GenaiQuirks, GenaiOptions>) => new GenaiTap(context),
  },
  requests: {
    check: (request, context) => {
      // A request in another spelling is rewritten in the protocol's own. All others keep their bytes.
      const check = context.verb === "count_tokens" ? checkGenaiCountTokensRequest : checkGenerateContentRequest;
      const normal = normaliseGenaiRequest(request.body);
      const body = check(normal, normal === request.body ? context : { ...context, levels: undefined });
      const checked = rewriteRequest(request, body, (exact) => check.withoutNulls(normaliseGenaiRequest(exact)));
      return withoutOtherModels(checked);
    },
    estimateTokens: (body, surplusBytes) => {
      // A request to count tokens may contain the whole request.
      const asked = objectAt(body, "generateContentRequest") ?? body;
      return estimateTokens([asked["systemInstruction"], asked["contents"], asked["tools"]], surplusBytes);
    },
    outputLimit: (body) => numberAt(objectAt(body, "generationConfig"), "maxOutputTokens"),
    answerCount: (body) => numberAt(objectAt(body, "generationConfig"), "candidateCount") ?? 1,
    reasoning: (body) => {
      const thinking = objectAt(objectAt(body, "generationConfig"), "thinkingConfig");
      return thinking && decodeThinking(thinking).reasoning;
    },
    objects: genaiObjects,
    fileParts: genaiFileParts,
    pricedFields: PRICED_FIELDS,
    texts: textPlaces,
    billables,
    conversation: { before: ["systemInstruction", "tools"], turns: "contents" },
  },
  errors: { encode: encodeError, encodeInStream: encodeStreamError },
  texts: answerTexts,
  cached: cachedAnswers,
  http: {
    endpoints,
    readCall,
    readModel: modelInPath,
    pathHint: /^\/api\/(genai|vertex-ai)\b|^\/v1(?:alpha|beta)|\/publishers\/|:[A-Za-z]+$/,
    headerHints: ["x-goog-api-key", "x-goog-api-client"],
    keyHeaders: ["authorization", "x-goog-api-key", "x-api-key"],
    impliedPublisher: IMPLIED_PUBLISHER,
    requestIdHeader: undefined,
    models: modelLists,
    keepAlive: undefined,
    streamType,
  },
};

/** These let a host choose a model other than the one in the URL (contract 2.6: deprecated). */
const CHOICES = ["routingConfig", "modelSelectionConfig"] as const;

/** Removed for every host: another model has another price and other scopes (S07). */
function withoutOtherModels(request: ReceivedRequest): ReceivedRequest {
  const config = objectAt(request.body, "generationConfig");
  const present = config === undefined ? [] : CHOICES.filter((field) => field in config);
  if (config === undefined || present.length === 0) return request;
  const left = { ...config };
  for (const field of present) delete left[field];
  const text = changeValue(request.text, ["generationConfig"], (value) => {
    const edit = new ObjectEdit(value);
    for (const field of present) edit.remove(field);
    return edit.toString();
  });
  const adapted = present.map(
    (field): FieldNote => ({ path: `generationConfig.${field}`, action: "dropped", reason: ONE_MODEL }),
  );
  return { text, body: { ...request.body, generationConfig: left }, adapted };
}
