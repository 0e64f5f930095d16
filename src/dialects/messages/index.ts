// https://platform.claude.com/docs/en/api/messages

import { numberAt, objectAt, stringAt } from "../../base/json.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import { ObjectEdit } from "../../wire/json-text.ts";
import type { Dialect } from "../dialect.ts";
import type { Door } from "../reading/check.ts";
import type { ReceivedRequest } from "../received-request.ts";
import { rewriteRequest } from "../rewrite-request.ts";
import { advisorModels } from "./advisor.ts";
import { answerTexts } from "./answer/answer-texts.ts";
import { cachedAnswers } from "./answer/cached-answers.ts";
import { encodeError, encodeStreamError } from "./answer/errors.ts";
import { MessagesTap } from "./answer/tap.ts";
import { billables } from "./billables.ts";
import { messagesCodec } from "./codec.ts";
import { endpoints, readCall, VERSION_HEADERS } from "./endpoints.ts";
import { estimateMessagesTokens } from "./estimate.ts";
import { messagesFallbacks } from "./fallbacks.ts";
import { messagesFileParts } from "./file-parts.ts";
import { modelLists } from "./model-list.ts";
import { PRICED_FIELDS, patchAnswer, prepareRequest, UNREAD_TEXTS } from "./native.ts";
import { needsCanon } from "./needs-canon.ts";
import { messagesObjects } from "./object-fields.ts";
import { forwardOptions, type MessagesOptions } from "./options.ts";
import { decodeReasoning } from "./request/reasoning.ts";
import { checkCountTokensRequest, checkMessagesRequest } from "./schema/check-request.ts";
import { textPlaces } from "./text-places.ts";
import { refuseRemoved, VERSION_2026 } from "./version-2026.ts";

/** The messages protocol: contract 2.10–2.11, streamed as named events from `message_start` to `message_stop`. */
export const messages: Dialect = {
  name: "messages",
  codec: messagesCodec,
  native: {
    needsCanon,
    prepareRequest,
    patchAnswer,
    unreadTexts: UNREAD_TEXTS,
    createTap: (context) => new MessagesTap(context),
  },
  requests: {
    check: (request, context) => {
      const check = context.verb === "count_tokens" ? checkCountTokensRequest : checkMessagesRequest;
      const checked = rewriteRequest(request, check(request.body, context), check.withoutNulls);
      if (context.door === "dropin" && (context.options as MessagesOptions | undefined)?.version === VERSION_2026) {
        refuseRemoved(checked.body);
      }
      return withoutUnsupported(checked, context.door);
    },
    estimateTokens: estimateMessagesTokens,
    outputLimit: (body) => numberAt(body, "max_tokens"),
    answerCount: () => 1,
    reasoning: (body) =>
      decodeReasoning(objectAt(body, "thinking"), stringAt(objectAt(body, "output_config"), "effort")).reasoning,
    objects: messagesObjects,
    fileParts: messagesFileParts,
    pricedFields: PRICED_FIELDS,
    namedModels: advisorModels,
    texts: textPlaces,
    billables: (body, options) => billables(body, options as MessagesOptions),
    conversation: { before: ["system", "tools"], turns: "messages" },
  },
  fallbacks: messagesFallbacks,
  errors: { encode: encodeError, encodeInStream: encodeStreamError },
  texts: answerTexts,
  cached: cachedAnswers,
  http: {
    endpoints,
    readCall,
    readModel: ({ id = "" }) => id,
    // Other vendors have messages too, below the id of a conversation.
    pathHint: /^\/api\/(msg|anthropic)\b|(?:^|\/v1)\/(?:messages|complete)\b/,
    headerHints: VERSION_HEADERS,
    keyHeaders: ["x-api-key", "authorization", "x-goog-api-key"],
    requestIdHeader: "request-id",
    models: modelLists,
    keepAlive: 'event: ping\ndata: {"type":"ping"}\n\n',
    streamType: () => "text/event-stream",
    forwardOptions,
  },
};

/** Contract 2.10: not supported. The drop-in door forwards them (choices 3). */
const UNSUPPORTED = ["metadata", "service_tier"] as const;

/** At the contract door these fields are removed, with a note in the receipt. */
function withoutUnsupported(request: ReceivedRequest, door: Door): ReceivedRequest {
  const present = door === "contract" ? UNSUPPORTED.filter((field) => field in request.body) : [];
  if (present.length === 0) return request;
  const edit = new ObjectEdit(request.text);
  const body = { ...request.body };
  for (const field of present) {
    edit.remove(field);
    delete body[field];
  }
  const adapted = present.map(
    (path): FieldNote => ({ path, action: "dropped", reason: "this field is not supported" }),
  );
  return { text: edit.toString(), body, adapted };
}
