import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { Notes } from "../../canon/notes.ts";
import { EFFORTS, type Effort, type ReasoningRequest } from "../../canon/reasoning.ts";
import { reportModel, reportTerms } from "../../canon/terms.ts";
import { fitToolId } from "../../canon/tool-id.ts";
import { clampOutput } from "../../canon/traits.ts";
import { type BodySource, editBody } from "../../wire/edit-body.ts";
import { changeElements, changeValue, ObjectEdit } from "../../wire/json-text.ts";
import { requireFewCalls, requireFewChoices } from "../answer/answer-bounds.ts";
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
import { effortOfWord } from "../request/effort-words.ts";
import { emptyTools } from "../request/empty-tools.ts";
import { oneLimit, otherLimits } from "../request/other-limits.ts";
import { countedOnce } from "../request/prompt-counts.ts";
import { answerError, noChoices } from "./answer/answer-error.ts";
import { contractFinishReason, decodeStop, finishOf } from "./answer/stop-reason.ts";
import { readUsage } from "./answer/usage.ts";
import { decodeContent } from "./content.ts";
import type { ChatQuirks } from "./quirks.ts";
import { decodeReasoning, encodeReasoning } from "./reasoning.ts";
import { readDetail, saysNothing } from "./reasoning-details.ts";
import { BOUNDED, fitInterval, SETTING_FIELDS } from "./request/settings.ts";
import { hasBrokenCall } from "./tool-call.ts";

/** What an assistant message can contain besides reasoning. */
const SAID = ["content", "tool_calls", "function_call", "refusal", "audio"];

const REASONING_FIELDS = ["reasoning", "reasoning_content", "reasoning_details"];

export const PRICED_FIELDS: PricedFields = { service_tier: {}, prompt_cache_options: CACHE_LIFETIME };

export function prepareRequest(request: ReceivedRequest, context: NativeRequestContext<ChatQuirks>): UpstreamRequest {
  const { body } = request;
  const { quirks } = context;
  const notes = new Notes();
  const changes: Changes = {
    set: { model: modelJson(context.upstreamModel) },
    rename: {},
    remove: ["usage", ...ROUTING_FIELDS],
    notes,
  };
  limitOutput(body, context, changes);
  translateReasoning(body, context, changes);
  fitSettings(body, quirks, changes);
  leaveOutEmptyTools(body, changes);
  if (context.stream && quirks.askStreamUsage && objectAt(body, "stream_options")?.["include_usage"] !== true) {
    changes.set["stream_options"] = JSON.stringify({ ...objectAt(body, "stream_options"), include_usage: true });
  }
  // They have no effect without a stream (contract 2.12), and providers reject them.
  if (!context.stream && "stream_options" in body) changes.remove.push("stream_options");
  const source = fitMessages(request, quirks, notes);
  return {
    payload: editBody(source, changes, body),
    notes: notes.list,
    terms: namesOfTerms(askedTerms(body, PRICED_FIELDS)),
  };
}

interface Changes {
  set: Record<string, string>;
  rename: Record<string, string>;
  remove: string[];
  notes: Notes;
}

function limitOutput(
  body: JsonObject,
  context: NativeRequestContext<ChatQuirks>,
  { set, rename, remove, notes }: Changes,
): void {
  const wanted = numberAt(body, "max_completion_tokens");
  const legacy = numberAt(body, "max_tokens");
  const path = wanted === undefined ? "max_tokens" : "max_completion_tokens";
  const field = context.quirks.maxTokensField;
  for (const other of otherLimits(body, field)) {
    remove.push(other);
    notes.dropped(other, oneLimit(path));
  }
  if (wanted !== undefined && "max_tokens" in body) {
    remove.push("max_tokens");
    notes.dropped("max_tokens", "max_completion_tokens is also set and takes precedence");
  }
  if (path in body && path !== field) {
    rename[path] = field;
    // It may be null there, and the provider would use that value.
    if (field in body) remove.push(field);
  }
  const asked = wanted ?? legacy;
  const most = context.maxOutputTokens;
  if (asked !== undefined && most !== undefined && asked > most) {
    set[path] = String(clampOutput(asked, most, (reason) => notes.approximated(path, reason)));
  }
}

/**
 * Translates the contract's `reasoning` object and `reasoning_effort` to the provider's fields. The provider's own fields pass unchanged.
 */
function translateReasoning(
  body: JsonObject,
  { quirks, knownEfforts }: NativeRequestContext<ChatQuirks>,
  { set, remove, notes }: Changes,
): void {
  const { reasoningField, effortWords } = quirks;
  const given = typeof body["reasoning_effort"] === "string";
  if (reasoningField === "reasoning" || (!given && !("reasoning" in body))) return;
  const { desired } = decodeReasoning(body);
  remove.push("reasoning");
  if (reasoningField === "reasoning_effort" && given) {
    const effort = effortOfWord(body["reasoning_effort"]);
    const word = effort === undefined ? undefined : effortWords[effort];
    if (word !== undefined && word !== body["reasoning_effort"]) set["reasoning_effort"] = JSON.stringify(word);
    return;
  }
  const word = stringAt(objectAt(body, "reasoning"), "effort");
  if (word !== undefined && effortOfWord(word) === undefined) {
    // An effort is not a billable term (decision 0092), so the provider decides about unknown values.
    if (reasoningField === "reasoning_effort" && desired?.amount === undefined) {
      set["reasoning_effort"] = JSON.stringify(word);
      return;
    }
    notes.dropped("reasoning.effort", "this provider does not support this effort");
  }
  if (desired === undefined || reasoningField in body) {
    remove.push("reasoning_effort");
    if (desired !== undefined) notes.dropped(desired.path, `${reasoningField} is also set and takes precedence`);
    return;
  }
  const limit = numberAt(body, "max_completion_tokens") ?? numberAt(body, "max_tokens");
  const traits = { efforts: knownEfforts ?? efforts(desired, quirks) };
  const fields = encodeReasoning(desired, { quirks, traits, ...withoutAbsent({ limit }) }, notes);
  for (const [key, value] of Object.entries(fields)) set[key] = JSON.stringify(value);
  if (fields["reasoning_effort"] === undefined) remove.push("reasoning_effort");
}

/** If the model's efforts are unknown, the client's effort is sent as is, and a budget becomes an effort that most providers support. */
function efforts({ amount }: ReasoningRequest, quirks: ChatQuirks): readonly Effort[] {
  const named = typeof amount === "string" && amount !== "dynamic" && quirks.reasoningField === "reasoning_effort";
  return named ? EFFORTS : ["off", ...quirks.efforts];
}

/** Adapts or removes settings that the provider is known to reject. */
function fitSettings(body: JsonObject, quirks: ChatQuirks, { set, rename, remove, notes }: Changes): void {
  for (const setting of quirks.unsupported) {
    for (const field of SETTING_FIELDS[setting] ?? []) {
      if (body[field] === undefined) continue;
      remove.push(field);
      if (body[field] !== null) notes.dropped(field, "this provider does not support it");
    }
  }
  if (quirks.seedField !== "seed" && "seed" in body) rename["seed"] = quirks.seedField;
  for (const [setting, field] of BOUNDED) {
    const value = numberAt(body, field);
    const fitting = value === undefined ? undefined : fitInterval(value, quirks[setting]);
    if (fitting === value || remove.includes(field)) continue;
    set[field] = String(fitting);
    notes.approximated(field, `${fitting} is the nearest value this provider accepts`);
  }
  if (body["tool_choice"] === "required" && quirks.anyToolWord !== "required") {
    set["tool_choice"] = JSON.stringify(quirks.anyToolWord ?? "auto");
    if (quirks.anyToolWord === undefined) {
      notes.approximated("tool_choice", "this provider cannot be forced to call a tool");
    }
  }
  if (objectAt(body, "response_format")?.["type"] === "json_schema" && !quirks.outputFormats.includes("schema")) {
    if (quirks.outputFormats.includes("json")) set["response_format"] = '{"type":"json_object"}';
    else remove.push("response_format");
    notes.approximated("response_format", "this provider does not support response schemas");
  }
}

function leaveOutEmptyTools(body: JsonObject, { set, remove, notes }: Changes): void {
  const empty = emptyTools(body);
  for (const key of empty.remove) {
    remove.push(key);
    delete set[key];
  }
  for (const { path, reason } of empty.notes) notes.dropped(path, reason);
}

/** A change to the text of one value. */
type Change = (text: string) => string;

/** Adapts messages that a provider would reject because of their reasoning or their call ids. */
function fitMessages(request: ReceivedRequest, quirks: ChatQuirks, notes: Notes): BodySource {
  const messages = arrayAt(request.body, "messages");
  let changes: Map<number, Change> | undefined;
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index];
    if (!isObject(message)) continue;
    const reasoning = message["role"] === "assistant" ? fitReasoning(message, index, quirks, notes) : undefined;
    const ids = quirks.toolId === undefined ? undefined : fitToolIds(message, quirks.toolId);
    const change = reasoning && ids ? inTurn(reasoning, ids) : (reasoning ?? ids);
    if (change === undefined) continue;
    changes ??= new Map();
    changes.set(index, change);
  }
  return changes === undefined ? request : { text: changeElements(request.text, ["messages"], changes) };
}

const inTurn =
  (first: Change, second: Change): Change =>
  (text) =>
    second(first(text));

/**
 * Clients must return their reasoning (contract 2.12), under either name. Providers without reasoning reject it, others expect it under
 * their own name, and some require it in every message.
 */
function fitReasoning(message: JsonObject, index: number, quirks: ChatQuirks, notes: Notes): Change | undefined {
  if (quirks.reasoningHistory === "drop") {
    const present = REASONING_FIELDS.filter((name) => name in message);
    if (present.length === 0) return undefined;
    for (const name of present)
      notes.dropped(`messages[${index}].${name}`, "this provider does not accept reasoning in the history");
    const silent = !SAID.some((name) => message[name] !== undefined && message[name] !== null);
    return (text) => {
      const rest = withoutMembers(text, present);
      // The message contained only reasoning, and providers require content.
      return silent ? new ObjectEdit(rest).set("content", '""').toString() : rest;
    };
  }
  const field = quirks.reasoningHistoryField;
  const said = stringAt(message, field) || stringAt(message, "reasoning_content") || stringAt(message, "reasoning");
  const wanted = said || (quirks.reasoningHistory === "required" ? quirks.reasoningPlaceholder : undefined);
  if (wanted === undefined || wanted === message[field]) return undefined;
  return (text) => new ObjectEdit(text).set(field, JSON.stringify(wanted)).toString();
}

function fitToolIds(message: JsonObject, rule: NonNullable<ChatQuirks["toolId"]>): Change | undefined {
  const answered = fitId(message, "tool_call_id", rule);
  const calls = new Map<number, Change>();
  for (const [index, call] of arrayAt(message, "tool_calls").entries()) {
    const change = fitId(call, "id", rule);
    if (change) calls.set(index, change);
  }
  if (calls.size === 0) return answered;
  return (text) => changeElements(answered?.(text) ?? text, ["tool_calls"], calls);
}

function fitId(holder: unknown, key: string, rule: NonNullable<ChatQuirks["toolId"]>): Change | undefined {
  const id = stringAt(holder, key);
  const fitting = id === undefined ? undefined : fitToolId(id, rule);
  return fitting === id ? undefined : (text) => changeValue(text, [key], () => JSON.stringify(fitting));
}

const withMember = (objectText: string, key: string, value: unknown): string =>
  new ObjectEdit(objectText).set(key, JSON.stringify(value)).toString();

function withoutMembers(objectText: string, keys: readonly string[]): string {
  const edit = new ObjectEdit(objectText);
  for (const key of keys) edit.remove(key);
  return edit.toString();
}

export function patchAnswer(text: string, body: JsonObject, context: NativeAnswerContext<ChatQuirks>): ClientAnswer {
  const failure = answerError(body);
  if (failure) throw failure;
  if (!Array.isArray(body["choices"])) throw noChoices();
  const usage = readUsage(body, context.quirks);
  reportModel(context.served, body["model"]);
  reportTerms(context.served, body["service_tier"]);
  let stop: ClientAnswer["stop"];
  const choices = arrayAt(body, "choices");
  requireFewChoices(choices.length);
  let changes: Map<number, Change> | undefined;
  for (let position = 0; position < choices.length; position++) {
    const choice = choices[position];
    const message = objectAt(choice, "message") ?? NO_MESSAGE;
    const finish = finishOf(choice, message, hasBrokenCall);
    if (finish) stop ??= decodeStop(finish);
    const patch = patchMessage(message, context);
    patchFinish(patch, stringAt(choice, "finish_reason"), finish);
    if (patch.length === 0) continue;
    changes ??= new Map();
    changes.set(position, (value) => patch.reduce((changed, change) => change(changed), value));
  }
  let data = changes === undefined ? text : changeElements(text, ["choices"], changes);
  const details = usage && countedOnce(objectAt(objectAt(body, "usage"), "prompt_tokens_details"), usage);
  if (details) data = changeValue(data, ["usage", "prompt_tokens_details"], () => JSON.stringify(details));
  if (usage && wantsCost(context.request)) data = addCost(data, context.costUsd(usage));
  const set: Record<string, string> = { model: modelJson(context.publicModel) };
  if (context.answerId !== undefined) set["id"] = JSON.stringify(context.answerId);
  else if (!body["id"]) set["id"] = JSON.stringify(`chatcmpl-${context.makeId()}`);
  const patched = String(editBody({ text: data }, { set }, body));
  context.keep?.(JSON.parse(patched) as JsonObject);
  return { text: patched, usage, stop };
}

/** Content in parts is read, but has its texts under another name. */
export const UNREAD_TEXTS: UnreadTexts = { members: new Set(["content"]), isCounted: () => true };

const NO_MESSAGE: JsonObject = {};

function patchFinish(patch: Change[], reported: string | undefined, finish: string | undefined): void {
  const word = finish ? contractFinishReason(finish) : reported;
  if (word !== reported) patch.push((text) => changeValue(text, ["finish_reason"], () => JSON.stringify(word)));
}

const addCost = (text: string, costUsd: number): string =>
  changeValue(text, ["usage"], (value) => new ObjectEdit(value).set("cost", String(costUsd)).toString());

function patchMessage(message: JsonObject, context: NativeAnswerContext<ChatQuirks>): Change[] {
  const patch: Change[] = [];
  const calls = arrayAt(message, "tool_calls");
  requireFewCalls(calls.length);
  const nameless = calls.length > 0 ? nameCalls(calls, context) : undefined;
  if (nameless !== undefined) patch.push((choice) => changeElements(choice, ["message", "tool_calls"], nameless));
  const reasoning = mirrorReasoning(message, hidesReasoning(context.request));
  if (reasoning) patch.push((choice) => changeValue(choice, ["message"], reasoning.change));
  return patch;
}

/** Adds missing call ids. */
function nameCalls(
  calls: readonly unknown[],
  { makeId }: NativeAnswerContext<ChatQuirks>,
): Map<number, Change> | undefined {
  const named = new Map<number, Change>();
  for (let index = 0; index < calls.length; index++) {
    if (stringAt(calls[index], "id")) continue;
    const id = JSON.stringify(`call_${makeId()}`);
    named.set(index, (call) => new ObjectEdit(call).set("id", id).toString());
  }
  return named.size === 0 ? undefined : named;
}

export const hidesReasoning = (request: JsonObject) => objectAt(request, "reasoning")?.["exclude"] === true;
export const wantsCost = (request: JsonObject) => objectAt(request, "usage")?.["include"] === true;
export const wantsUsage = (request: JsonObject) =>
  objectAt(request, "stream_options")?.["include_usage"] === true || wantsCost(request);

/**
 * Sets `reasoning` and `reasoning_content` to the same text (contract 2.13), wherever the provider put its reasoning: under one of these
 * names, only in details, or in parts of the content. If reasoning is hidden, keeps only values that show nothing and must be returned.
 */
export function mirrorReasoning(
  holder: JsonObject,
  hide: boolean,
): { change: (text: string) => string; emptied: boolean } | undefined {
  const parted = readParts(holder["content"]);
  if (hide) {
    const kept = arrayAt(holder, "reasoning_details").filter(saysNothing);
    const present = REASONING_FIELDS.filter(
      (field) => field in holder && !(field === "reasoning_details" && kept.length > 0),
    );
    if (present.length === 0 && kept.length === 0 && parted === undefined) return undefined;
    const change = (text: string) => {
      const bare = withoutMembers(text, present);
      return withContent(kept.length === 0 ? bare : withMember(bare, "reasoning_details", kept), parted?.text);
    };
    const silent = parted?.text === "" ? [...present, "content"] : present;
    const others = Object.entries(holder).filter(([key, value]) => !silent.includes(key) && key !== "role" && value);
    return { change, emptied: others.length === 0 };
  }
  const reasoning = stringAt(holder, "reasoning");
  const content = stringAt(holder, "reasoning_content");
  const said = content ?? reasoning ?? (parted?.reasoning || detailsText(holder)) ?? "";
  if (reasoning === content && (said === "" || said === content)) {
    return parted === undefined ? undefined : { change: (text) => withContent(text, parted.text), emptied: false };
  }
  const value = JSON.stringify(said);
  const change = (text: string) =>
    withContent(new ObjectEdit(text).set("reasoning", value).set("reasoning_content", value).toString(), parted?.text);
  return { change, emptied: false };
}

/** Joins a list of texts and thoughts into one text of each. Undefined for any other content. */
function readParts(content: unknown): { text: string; reasoning: string } | undefined {
  if (!Array.isArray(content)) return undefined;
  const parts = decodeContent(content);
  const textOf = (type: "text" | "reasoning") =>
    parts.map((part) => (part.type === type && "text" in part ? part.text : "")).join("");
  if (parts.some(({ type }) => type !== "text" && type !== "reasoning")) return undefined;
  return { text: textOf("text"), reasoning: textOf("reasoning") };
}

const withContent = (text: string, content: string | undefined): string =>
  content === undefined ? text : new ObjectEdit(text).set("content", JSON.stringify(content)).toString();

function detailsText(holder: JsonObject): string {
  return arrayAt(holder, "reasoning_details")
    .map((raw) => readDetail(raw)?.text ?? "")
    .join("");
}
