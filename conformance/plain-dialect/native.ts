import { type JsonObject, stringAt } from "../../src/base/json.ts";
import type {
  ClientAnswer,
  NativeAnswerContext,
  NativeRequestContext,
  UpstreamRequest,
} from "../../src/dialects/dialect.ts";
import { ROUTING_FIELDS } from "../../src/dialects/reading/routing-fields.ts";
import type { ReceivedRequest } from "../../src/dialects/received-request.ts";
import { editBody } from "../../src/wire/edit-body.ts";
import { decodeStop } from "./stop-reason.ts";
import { decodeUsage } from "./usage.ts";

/** The body is forwarded unchanged, with the host's name of the model in it. */
export function prepareRequest(request: ReceivedRequest, { upstreamModel }: NativeRequestContext): UpstreamRequest {
  const edits = { set: { model: JSON.stringify(upstreamModel) }, remove: ROUTING_FIELDS };
  return { payload: editBody(request, edits, request.body), notes: [] };
}

export function patchAnswer(text: string, body: JsonObject, { publicModel }: NativeAnswerContext): ClientAnswer {
  const why = stringAt(body, "why");
  return {
    text: String(editBody({ text }, { set: { model: JSON.stringify(publicModel) } }, body)),
    usage: decodeUsage(body["tokens"]),
    stop: why === undefined ? undefined : decodeStop(why),
  };
}
