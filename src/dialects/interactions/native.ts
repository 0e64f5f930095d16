import { arrayAt, type JsonObject, numberAt, objectAt, stringAt } from "../../base/json.ts";
import { Notes } from "../../canon/notes.ts";
import { reportModel, reportTerms } from "../../canon/terms.ts";
import { clampOutput } from "../../canon/traits.ts";
import { type BodySource, editBody } from "../../wire/edit-body.ts";
import { changeValue, ObjectEdit } from "../../wire/json-text.ts";
import type { AnswerContext } from "../answer/answer-context.ts";
import { modelJson } from "../answer/model-json.ts";
import type { ClientAnswer, NativeAnswerContext, NativeRequestContext, UpstreamRequest } from "../dialect.ts";
import { askedTerms, namesOfTerms, type PricedFields } from "../reading/priced-fields.ts";
import { ROUTING_FIELDS } from "../reading/routing-fields.ts";
import type { ReceivedRequest } from "../received-request.ts";
import { failIfNoAnswer } from "./answer/decode-response.ts";
import { ID_PREFIX } from "./answer/encode-stream.ts";
import { HostedToolUses } from "./answer/hosted-tool-uses.ts";
import { continued } from "./answer/interaction-shell.ts";
import { decodeStop, statusOf } from "./answer/stop-reason.ts";
import { decodeUsage } from "./answer/usage.ts";
import { STATE_FIELDS } from "./request/decode-request.ts";

export const PRICED_FIELDS: PricedFields = { service_tier: {} };

const CONFIG = "generation_config";
const LIMIT = "max_output_tokens";
const THINKING = ["thinking_level", "thinking_summaries"];

export function prepareRequest(request: ReceivedRequest, context: NativeRequestContext): UpstreamRequest {
  const { body } = request;
  const notes = new Notes();
  const source = fitConfig(request, objectAt(body, CONFIG), context, notes);
  // The provider stores nothing: the gateway stores interactions itself.
  const set = { model: modelJson(context.upstreamModel), store: "false" };
  const remove = [...ROUTING_FIELDS, ...STATE_FIELDS].filter((field) => field !== "store");
  const terms = namesOfTerms(askedTerms(body, PRICED_FIELDS));
  return { payload: editBody(source, { set, remove }, body), notes: notes.list, terms };
}

function fitConfig(
  request: ReceivedRequest,
  config: JsonObject | undefined,
  { maxOutputTokens, reasons }: NativeRequestContext,
  notes: Notes,
): BodySource {
  const wanted = numberAt(config, LIMIT);
  const lowered = (reason: string) => notes.approximated(`${CONFIG}.${LIMIT}`, reason);
  const limit = wanted === undefined ? undefined : clampOutput(wanted, maxOutputTokens, lowered);
  const unsent = reasons || config === undefined ? [] : THINKING.filter((field) => field in config);
  if (limit === wanted && unsent.length === 0) return request;
  for (const field of unsent) notes.dropped(`${CONFIG}.${field}`, "this model does not support thinking");
  return {
    text: changeValue(request.text, [CONFIG], (value) => {
      const edit = new ObjectEdit(value);
      if (limit !== undefined) edit.set(LIMIT, String(limit));
      for (const field of unsent) edit.remove(field);
      return edit.toString();
    }),
  };
}

export function patchAnswer(text: string, body: JsonObject, context: NativeAnswerContext): ClientAnswer {
  failIfNoAnswer(body);
  const set = clientFields(body, context);
  const usage = HostedToolUses.in(body).addTo(decodeUsage(body["usage"]));
  reportModel(context.served, body["model"]);
  reportTerms(context.served, body["service_tier"]);
  const hasCalls = arrayAt(body, "steps").some((step) => stringAt(step, "type") === "function_call");
  const edit = new ObjectEdit(text);
  for (const [key, value] of Object.entries(set)) edit.set(key, JSON.stringify(value));
  for (const field of UNSHOWN) edit.remove(field);
  context.keep?.({ ...without(body, UNSHOWN), ...set });
  return { text: edit.toString(), usage, stop: decodeStop(body, hasCalls) };
}

/** Only the host that stores an interaction could continue it by this token. */
export const UNSHOWN = ["continuation_token"] as const;

export const without = (object: JsonObject, keys: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));

/** What the gateway changes in an interaction: the public name of the model, and the state, which the gateway manages. */
export function clientFields(interaction: JsonObject, context: AnswerContext): JsonObject {
  const id = context.answerId ?? (stringAt(interaction, "id") || `${ID_PREFIX}${context.makeId()}`);
  const status = stringAt(interaction, "status");
  const shown = status === undefined ? undefined : statusOf(status);
  return {
    id,
    model: context.publicModel,
    ...(shown === status ? {} : { status: shown }),
    ...continued(context.request),
  };
}
