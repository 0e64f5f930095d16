import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from "../../base/json.ts";
import { Notes } from "../../canon/notes.ts";
import { reportModel, reportTerms } from "../../canon/terms.ts";
import { fitToolId } from "../../canon/tool-id.ts";
import { clampOutput } from "../../canon/traits.ts";
import { countAt } from "../../canon/usage.ts";
import { type BodySource, editBody } from "../../wire/edit-body.ts";
import { changeElements, ObjectEdit } from "../../wire/json-text.ts";
import type { AnswerContext } from "../answer/answer-context.ts";
import { modelJson } from "../answer/model-json.ts";
import type {
  ClientAnswer,
  NativeAnswerContext,
  NativeRequestContext,
  UnreadTexts,
  UpstreamRequest,
} from "../dialect.ts";
import { askedTerms, CACHE_LIFETIME, namesOfTerms, type PricedFields } from "../reading/priced-fields.ts";
import { ROUTING_FIELDS } from "../reading/routing-fields.ts";
import type { ReceivedRequest } from "../received-request.ts";
import { emptyTools } from "../request/empty-tools.ts";
import { oneLimit, otherLimits } from "../request/other-limits.ts";
import { countedOnce } from "../request/prompt-counts.ts";
import { failIfNoAnswer } from "./answer/decode-response.ts";
import { HostedToolUses } from "./answer/hosted-tool-uses.ts";
import { encodeConversation, isStored } from "./answer/repeated-state.ts";
import { missingMembers } from "./answer/response-shell.ts";
import { learnSealed } from "./answer/sealed-reasoning.ts";
import { decodeStop } from "./answer/stop-reason.ts";
import { decodeUsage, encodeUsage } from "./answer/usage.ts";
import { estimateResponsesTokens, itemWeight, usageWithEstimates } from "./estimate.ts";
import type { ResponsesQuirks } from "./quirks.ts";
import { builtInItem } from "./request/built-in-tools.ts";
import { CALL_ID } from "./request/encode-items.ts";
import { SEALED, STATE_FIELDS } from "./request/encode-request.ts";
import { MIN_OUTPUT, RAISED } from "./request/encode-settings.ts";
import { loadsTools } from "./request/loaded-tools.ts";
import { sentSvg } from "./request/named-models.ts";
import { OWN_ORIGIN } from "./request/reasoning.ts";
import { unsentMembers } from "./request/unsent-members.ts";

export const PRICED_FIELDS: PricedFields = { service_tier: {}, prompt_cache_options: CACHE_LIFETIME };

export function prepareRequest(
  request: ReceivedRequest,
  context: NativeRequestContext<ResponsesQuirks>,
): UpstreamRequest {
  const { body } = request;
  const { quirks } = context;
  const notes = new Notes();
  const set: Record<string, string> = { model: modelJson(context.upstreamModel) };
  const remove: string[] = [...ROUTING_FIELDS, ...STATE_FIELDS];
  if (!quirks.clientMetadata) remove.push("client_metadata");
  if (!context.stream) remove.push("stream_options");
  if (!context.counting) askForState(body, context, set);
  limitOutput(body, context, set, notes);
  for (const other of otherLimits(body, "max_output_tokens")) {
    remove.push(other);
    notes.dropped(other, oneLimit("max_output_tokens"));
  }
  const empty = emptyTools(body);
  if (empty.remove.length > 0 && !arrayAt(body, "input").some(loadsTools)) {
    remove.push(...empty.remove);
    notes.list.push(...empty.notes);
  }
  const kept = remove.filter((field) => !(field in set));
  const source = fitTools(fitItems(request, body), body, context, notes);
  const terms = namesOfTerms(askedTerms(body, PRICED_FIELDS));
  return { payload: editBody(source, { set, remove: kept }, body), notes: notes.list, terms };
}

/** The provider stores nothing, so the response must include what the next turn needs of its reasoning. */
function askForState(
  body: JsonObject,
  { reasons, quirks }: NativeRequestContext<ResponsesQuirks>,
  set: Record<string, string>,
): void {
  set["store"] = "false";
  const include = arrayAt(body, "include");
  if (reasons && quirks.seals && !include.includes(SEALED)) set["include"] = JSON.stringify([...include, SEALED]);
}

function limitOutput(
  body: JsonObject,
  { maxOutputTokens }: NativeRequestContext<ResponsesQuirks>,
  set: Record<string, string>,
  notes: Notes,
): void {
  const path = "max_output_tokens";
  const wanted = numberAt(body, path);
  if (wanted === undefined) return;
  const changed = (reason: string) => notes.approximated(path, reason);
  const limit = clampOutput(wanted, maxOutputTokens, changed);
  // R24
  if (limit < MIN_OUTPUT) changed(RAISED);
  const fitting = Math.max(MIN_OUTPUT, limit);
  if (fitting !== wanted) set[path] = String(fitting);
}

/** A change to the text of one value. */
type Change = (text: string) => string;

const MAX_ID = 64;

/**
 * R9: shortens ids that providers reject, equally for calls and results. Other items need no id, except for reasoning, which is bound to
 * it.
 */
function fitItems(request: ReceivedRequest, body: JsonObject): BodySource {
  const changes = new Map<number, Change>();
  for (const [index, item] of arrayAt(body, "input").entries()) {
    const callId = stringAt(item, "call_id");
    const fitting = callId === undefined ? undefined : fitToolId(callId, CALL_ID);
    const tooLong = (stringAt(item, "id")?.length ?? 0) > MAX_ID && stringAt(item, "type") !== "reasoning";
    if (fitting === callId && !tooLong) continue;
    changes.set(index, (text) => {
      const edit = new ObjectEdit(text);
      if (fitting !== undefined) edit.set("call_id", JSON.stringify(fitting));
      if (tooLong) edit.remove("id");
      return edit.toString();
    });
  }
  return changes.size === 0 ? request : { text: changeElements(request.text, ["input"], changes) };
}

/**
 * Removes members of tools that are not sent: web search settings that the provider does not support (R26), and a model other than the
 * requested one (S07). A model that draws images has the provider's name for it.
 */
function fitTools(
  source: BodySource,
  body: JsonObject,
  { quirks, upstreamName }: NativeRequestContext<ResponsesQuirks>,
  notes: Notes,
): BodySource {
  const changes = new Map<number, Change>();
  for (const [index, tool] of arrayAt(body, "tools").entries()) {
    if (!isObject(tool)) continue;
    const unsent = unsentMembers(tool, quirks);
    const drawing = sentSvg(tool, upstreamName);
    if (unsent.length === 0 && drawing === undefined) continue;
    for (const { member, reason } of unsent) notes.dropped(`tools[${index}].${member}`, reason);
    if (drawing?.reason !== undefined) notes.dropped(`tools[${index}].svg.model`, drawing.reason);
    changes.set(index, (text) => {
      const edit = new ObjectEdit(text);
      for (const { member } of unsent) edit.remove(member);
      if (drawing !== undefined) edit.set("svg", JSON.stringify(drawing.svg));
      return edit.toString();
    });
  }
  return changes.size === 0 ? source : { text: changeElements(source.text, ["tools"], changes) };
}

export function patchAnswer(text: string, body: JsonObject, context: NativeAnswerContext): ClientAnswer {
  failIfNoAnswer(body);
  const output = arrayAt(body, "output");
  const set = endedFields(body, context, () => output.reduce<number>((sum, item) => sum + itemWeight(item), 0));
  const usage = HostedToolUses.in(body).addTo(decodeUsage(body["usage"]));
  reportModel(context.served, body["model"]);
  reportTerms(context.served, body["service_tier"]);
  context.keep?.({ ...body, ...set });
  learnSealed(output, context.origin ?? OWN_ORIGIN, context.sealed);
  const hasCalls = output.some(isCall);
  return {
    text: String(editBody({ text }, { set: asJson(set) }, body)),
    usage,
    stop: decodeStop(body, hasCalls),
  };
}

export const UNREAD_TEXTS: UnreadTexts = {
  members: new Set(["text"]),
  isCounted: ({ usage }) => decodeUsage(usage)?.output !== undefined,
};

const asJson = (fields: JsonObject): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, JSON.stringify(value)]));

const CALLS: ReadonlySet<string> = new Set(["function_call", "custom_tool_call", "computer_call"]);

/** Whether the client answers the item: a call of its tools, or of a tool that it runs. */
export function isCall(item: unknown): boolean {
  const type = stringAt(item, "type");
  if (type === undefined || !isObject(item)) return false;
  return CALLS.has(type) || builtInItem(type, item)?.isResult === false;
}

/** What the gateway changes in a response: the public name of the model, and the state, which the gateway manages. */
export function clientFields(response: JsonObject, context: AnswerContext): Record<string, unknown> {
  const set: Record<string, unknown> = { model: context.publicModel };
  if (context.answerId !== undefined) set["id"] = context.answerId;
  else if (!stringAt(response, "id")) set["id"] = `resp_${context.makeId()}`;
  const store = isStored(context);
  if (response["store"] !== store) set["store"] = store;
  Object.assign(set, encodeConversation(context.request));
  const background = context.request["background"] === true;
  if ((response["background"] ?? false) !== background) set["background"] = background;
  const previous = context.request["previous_response_id"] ?? null;
  if ((response["previous_response_id"] ?? null) !== previous) set["previous_response_id"] = previous;
  return { ...missingMembers(response, context.request), ...set };
}

const INPUT_DETAILS = ["cached_tokens", "cache_write_tokens"];

/** The same for a finished response, which has a usage, if only an estimate (R2). `characters`: the weight of its text. */
export function endedFields(
  response: JsonObject,
  context: AnswerContext,
  characters: () => number,
): Record<string, unknown> {
  const set = clientFields(response, context);
  if (set["completed_at"] === null && response["status"] === "completed") set["completed_at"] = context.nowSeconds();
  const usage = objectAt(response, "usage");
  const reported = decodeUsage(usage);
  if (reported?.output === undefined) {
    const estimateInput = () => estimateResponsesTokens(context.request);
    set["usage"] = { ...usage, ...encodeUsage(usageWithEstimates(reported, estimateInput, characters())) };
  } else {
    const given = objectAt(usage, "input_tokens_details");
    const input = countedOnce(given, reported) ?? given;
    const output = objectAt(usage, "output_tokens_details");
    const isCounted = (key: string) => countAt(input, key) !== undefined;
    if (input !== given || !INPUT_DETAILS.every(isCounted) || countAt(output, "reasoning_tokens") === undefined) {
      set["usage"] = {
        ...usage,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0, ...input },
        output_tokens_details: { reasoning_tokens: 0, ...output },
      };
    }
  }
  return set;
}
