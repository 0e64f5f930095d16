import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from "../../canon/json.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import { changeValue, ObjectEdit } from "../../wire/json-text.ts";
import type { NativeAnswer, NativeAnswerContext, NativeRequest, NativeRequestContext } from "../dialect.ts";
import { hiddenError } from "./errors.ts";
import { nearestEffort } from "./reasoning.ts";
import { contractFinishReason, decodeStop } from "./stop-reason.ts";
import { decodeUsage } from "./usage.ts";

/** Fields by which a caller speaks to the gateway: no upstream knows them. */
const GATEWAY_FIELDS = ["provider", "model_routing_config", "usage"];

const REASONING_FIELDS = ["reasoning", "reasoning_content", "reasoning_details"];

export function prepareRequest(text: string, body: JsonObject, context: NativeRequestContext): NativeRequest {
  const notes: FieldNote[] = [];
  const edit = new ObjectEdit(stripReasoningHistory(text, body, context, notes));
  edit.set("model", JSON.stringify(context.upstreamModel));
  for (const field of GATEWAY_FIELDS) edit.remove(field);
  limitOutput(edit, body, context, notes);
  if (context.quirks.reasoningField === "reasoning_effort") translateReasoning(edit, body, notes);
  if (context.stream && context.quirks.askStreamUsage && objectAt(body, "stream_options")?.["include_usage"] !== true) {
    const options = new ObjectEdit(edit.get("stream_options") ?? "{}");
    const isAnObject = isObject(body["stream_options"]);
    edit.set("stream_options", (isAnObject ? options : new ObjectEdit("{}")).set("include_usage", "true").toString());
  }
  return { text: edit.toString(), notes };
}

function limitOutput(edit: ObjectEdit, body: JsonObject, context: NativeRequestContext, notes: FieldNote[]): void {
  const wanted = numberAt(body, "max_completion_tokens");
  const legacy = numberAt(body, "max_tokens");
  const path = wanted === undefined ? "max_tokens" : "max_completion_tokens";
  const field = context.quirks.maxTokensField;
  if (wanted !== undefined && edit.has("max_tokens")) {
    edit.remove("max_tokens");
    notes.push({ path: "max_tokens", action: "dropped", reason: "max_completion_tokens is given too" });
  }
  if (edit.has(path) && path !== field) edit.rename(path, field);
  const limit = wanted ?? legacy;
  if (limit !== undefined && context.maxOutputTokens !== undefined && limit > context.maxOutputTokens) {
    edit.set(path, String(context.maxOutputTokens));
    notes.push({ path, action: "approximated", reason: `the model's limit is ${context.maxOutputTokens}` });
  }
}

/** The contract's `reasoning` object as the `reasoning_effort` that the host knows. */
function translateReasoning(edit: ObjectEdit, body: JsonObject, notes: FieldNote[]): void {
  const reasoning = objectAt(body, "reasoning");
  if (!edit.has("reasoning")) return;
  edit.remove("reasoning");
  if (!reasoning || stringAt(body, "reasoning_effort") !== undefined) return;
  const effort = stringAt(reasoning, "effort");
  const budget = numberAt(reasoning, "max_tokens");
  if (reasoning["enabled"] === false) edit.set("reasoning_effort", '"none"');
  else if (effort !== undefined) edit.set("reasoning_effort", JSON.stringify(effort));
  else if (budget !== undefined) {
    const nearest = nearestEffort(budget);
    edit.set("reasoning_effort", JSON.stringify(nearest));
    const reason = `this provider takes an effort, not a budget; ${nearest} was sent`;
    notes.push({ path: "reasoning.max_tokens", action: "approximated", reason });
  }
}

/** Clients must send their reasoning back (contract 2.12), and hosts that never made any refuse to see it. */
function stripReasoningHistory(
  text: string,
  body: JsonObject,
  context: NativeRequestContext,
  notes: FieldNote[],
): string {
  if (context.quirks.reasoningHistory === "keep") return text;
  let result = text;
  for (const [index, message] of arrayAt(body, "messages").entries()) {
    const present = isObject(message) ? REASONING_FIELDS.filter((field) => field in message) : [];
    if (present.length === 0) continue;
    result = changeValue(result, ["messages", index], (value) => {
      const edit = new ObjectEdit(value);
      for (const field of present) edit.remove(field);
      return edit.toString();
    });
    for (const field of present) {
      notes.push({ path: `messages[${index}].${field}`, action: "dropped", reason: "this provider takes none back" });
    }
  }
  return result;
}

export function patchAnswer(text: string, body: JsonObject, context: NativeAnswerContext): NativeAnswer {
  const failure = hiddenError(body);
  if (failure) throw failure;
  const usage = decodeUsage(body["usage"]);
  let stop: NativeAnswer["stop"];
  let data = text;
  for (const [position, choice] of arrayAt(body, "choices").entries()) {
    const finish = stringAt(choice, "finish_reason");
    if (finish) {
      stop ??= decodeStop(finish);
      const word = contractFinishReason(finish);
      if (word !== finish) data = changeValue(data, ["choices", position, "finish_reason"], () => JSON.stringify(word));
    }
    data = patchMessage(data, ["choices", position, "message"], objectAt(choice, "message") ?? {}, context);
  }
  const edit = new ObjectEdit(data).set("model", JSON.stringify(context.publicModel));
  if (!body["id"]) edit.set("id", JSON.stringify(`chatcmpl-${context.makeId()}`));
  const usageText = edit.get("usage");
  if (usage && usageText && wantsCost(context.request)) {
    edit.set("usage", new ObjectEdit(usageText).set("cost", String(context.costUsd(usage))).toString());
  }
  return { text: edit.toString(), usage, stop };
}

function patchMessage(
  text: string,
  path: readonly (string | number)[],
  message: JsonObject,
  context: NativeAnswerContext,
): string {
  let data = text;
  for (const [position, call] of arrayAt(message, "tool_calls").entries()) {
    if (stringAt(call, "id")) continue;
    const id = JSON.stringify(`call_${context.makeId()}`);
    data = changeValue(data, [...path, "tool_calls", position], (value) =>
      new ObjectEdit(value).set("id", id).toString(),
    );
  }
  const reasoning = mirrorReasoning(message, hidesReasoning(context.request));
  return reasoning ? changeValue(data, path, reasoning.change) : data;
}

export const hidesReasoning = (request: JsonObject) => objectAt(request, "reasoning")?.["exclude"] === true;
export const wantsCost = (request: JsonObject) => objectAt(request, "usage")?.["include"] === true;
export const wantsUsage = (request: JsonObject) =>
  objectAt(request, "stream_options")?.["include_usage"] === true || wantsCost(request);

/** Makes `reasoning` and `reasoning_content` say the same (contract 2.13), or takes both out where they are to be hidden. */
export function mirrorReasoning(
  holder: JsonObject,
  hide: boolean,
): { change: (text: string) => string; emptied: boolean } | undefined {
  if (hide) {
    const present = REASONING_FIELDS.filter((field) => field in holder);
    if (present.length === 0) return undefined;
    const change = (text: string) => {
      const edit = new ObjectEdit(text);
      for (const field of present) edit.remove(field);
      return edit.toString();
    };
    const others = Object.entries(holder).filter(([key, value]) => !present.includes(key) && key !== "role" && value);
    return { change, emptied: others.length === 0 };
  }
  const reasoning = stringAt(holder, "reasoning");
  const content = stringAt(holder, "reasoning_content");
  if (reasoning === content) return undefined;
  const value = JSON.stringify(content ?? reasoning);
  const change = (text: string) =>
    new ObjectEdit(text).set("reasoning", value).set("reasoning_content", value).toString();
  return { change, emptied: false };
}
