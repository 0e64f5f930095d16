import type { JsonObject } from "../../../base/json.ts";
import { adaptNative } from "../../../canon/adapt-native.ts";
import { withHourAges } from "../../../canon/cache-marks.ts";
import type { CanonCall } from "../../../canon/call.ts";
import { mergeExtras, reportExtras } from "../../../canon/extras.ts";
import { Notes } from "../../../canon/notes.ts";
import { wantedAmount } from "../../../canon/reasoning.ts";
import type { EncodedRequest, EncodeRequestContext } from "../../codec.ts";
import { takeShared } from "../../reading/shared-fields.ts";
import { fitToolNames, plainNames } from "../../request/fit-tool-names.ts";
import type { ChatQuirks } from "../quirks.ts";
import { encodeReasoning } from "../reasoning.ts";
import { encodeTools } from "../tools.ts";
import { encodeTurns } from "./encode-turns.ts";
import type { RequestScope } from "./request-scope.ts";
import { encodeFormat } from "./response-format.ts";
import { encodeSettings } from "./settings.ts";

const TOOL_NAMES = plainNames(64);

export function encodeRequest(asked: CanonCall, context: EncodeRequestContext<ChatQuirks>): EncodedRequest {
  const notes = new Notes();
  const { quirks } = context;
  const { fields: shared, rest } = quirks.accountFields ? takeShared(asked, "responses") : { fields: {}, rest: asked };
  const aged = quirks.cacheControl ? withHourAges(rest, notes) : rest;
  const adapted = adaptNative(aged, "chat", notes);
  const { call, reading: names } = fitToolNames(adapted, TOOL_NAMES, notes);
  const scope: RequestScope = { call, context, notes };
  const { fields: format, reading, standIn, instruction } = encodeFormat(scope);
  const settings = encodeSettings(scope);
  const body: JsonObject = {
    model: context.upstreamModel,
    messages: encodeTurns(scope, instruction),
    ...settings,
    ...encodeThinking(scope, settings),
    ...encodeTools(scope, standIn),
    ...format,
    ...shared,
    ...(context.stream ? { stream: true } : {}),
    ...(context.stream && quirks.askStreamUsage ? { stream_options: { include_usage: true } } : {}),
  };
  if (call.dialect !== "chat") reportExtras(call, notes);
  return {
    body: call.dialect === "chat" ? mergeExtras(body, call.extras) : body,
    notes: notes.list,
    reading: { ...names, ...reading },
  };
}

function encodeThinking({ call, context, notes }: RequestScope, settings: JsonObject): JsonObject {
  const { reasoning: desired } = call;
  if (desired === undefined) return {};
  const { quirks, traits } = context;
  if (!traits.reasoning) {
    const amount = wantedAmount(desired);
    if (amount !== undefined && amount !== "off") notes.dropped(desired.path, "this model does not support thinking");
    return {};
  }
  const limit = settings[quirks.maxTokensField];
  const target = { quirks, traits, ...(typeof limit === "number" ? { limit } : {}) };
  return encodeReasoning(desired, target, notes);
}
