import type { JsonObject } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import type { Turn } from "../../../canon/call.ts";
import type { Opaque } from "../../../canon/opaque.ts";
import type { Part, ReasoningPart, TextPart, ToolCallPart } from "../../../canon/part.ts";
import { fitToolId } from "../../../canon/tool-id.ts";
import { joinedContent, leaveOut } from "../content.ts";
import { withExtras } from "../part-fields.ts";
import { EMPTY_TEXT_ID, encodeDetails, encodeSignature, spellForHost, TEXT_ID } from "../reasoning-details.ts";
import { encodeText, noteCitations } from "../text-part.ts";
import { encodeToolCall, withSignatureAt } from "../tool-call.ts";
import { cacheControl, ownExtras, pathIn, type RequestScope } from "./request-scope.ts";

/** A message of the history, from this model or another. */
export function encodeAssistant(turn: Turn, scope: RequestScope): JsonObject {
  const { quirks } = scope.context;
  const details: JsonObject[] = [];
  const texts: JsonObject[] = [];
  const calls: JsonObject[] = [];
  let own: JsonObject = {};
  let refusal: string | undefined;
  let reasoning: string | undefined;
  for (const part of turn.parts) {
    if (part.type === "reasoning") {
      const kept = encodeHistoryReasoning(part, details, scope);
      if (kept !== undefined) reasoning = (reasoning ?? "") + kept;
    } else if (part.type === "text") {
      texts.push(...encodeHistoryText(part, details, scope));
    } else if (part.type === "refusal") {
      refusal = (refusal ?? "") + part.text;
    } else if (part.type === "tool-call") {
      calls.push(encodeCall(part, details, scope));
    } else if (part.type === "native" && part.dialect === "chat") {
      own = mergeNative(own, part.raw, texts);
    } else leaveOut(part, scope);
  }
  const nativeCalls = Array.isArray(own["tool_calls"]) ? (own["tool_calls"] as JsonObject[]) : [];
  const allCalls = [...calls, ...nativeCalls];
  const silent = allCalls.length > 0 || refusal !== undefined || own["audio"] !== undefined;
  const placeholder = quirks.reasoningHistory === "required" ? quirks.reasoningPlaceholder : undefined;
  const thought = reasoning ?? placeholder;
  const message = {
    role: "assistant",
    content: texts.length === 0 && silent ? null : joinedContent(texts, ""),
    ...own,
    ...withoutAbsent({ refusal, name: turn.name }),
    ...(thought === undefined ? {} : { [quirks.reasoningHistoryField]: thought }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
    ...(allCalls.length === 0 ? {} : { tool_calls: allCalls }),
  };
  return withExtras(message, ownExtras(scope, turn.extras));
}

/** A native part of the content stays in the content. Other native parts are fields of the message. */
function mergeNative(own: JsonObject, raw: JsonObject, texts: JsonObject[]): JsonObject {
  if (typeof raw["type"] === "string") {
    texts.push(raw);
    return own;
  }
  const calls = [own["tool_calls"], raw["tool_calls"]].flatMap((list) =>
    Array.isArray(list) ? (list as unknown[]) : [],
  );
  return { ...own, ...raw, ...(calls.length === 0 ? {} : { tool_calls: calls }) };
}

/** The text to return if the provider accepts any. Its signature goes into the details if they are the provider's own. */
function encodeHistoryReasoning(part: ReasoningPart, details: JsonObject[], scope: RequestScope): string | undefined {
  const { quirks } = scope.context;
  const readable = part.signature === undefined || mayReturn(part.signature, scope);
  if (takesDetails(part, scope)) {
    const { signature: _foreign, ...bare } = part;
    const sent: ReasoningPart = readable ? part : bare;
    if (sent.text !== "" || sent.signature !== undefined) {
      details.push(...encodeDetails(sent, details.length, spellForHost));
    }
    if (!readable) noteSignature(part, scope);
    return part.text === "" || quirks.reasoningDetails === "instead" ? undefined : part.text;
  }
  if (part.signature !== undefined) noteSignature(part, scope);
  if (part.text === "") return undefined;
  if (quirks.reasoningHistory !== "drop") return part.text;
  scope.notes.dropped(part.path ?? "reasoning", "this provider does not accept reasoning in the history");
  return undefined;
}

function takesDetails(part: ReasoningPart, scope: RequestScope): boolean {
  const { reasoningDetails } = scope.context.quirks;
  return reasoningDetails === "own" ? isOwn(part, scope) : reasoningDetails !== false;
}

const isOwn = ({ signature }: ReasoningPart, scope: RequestScope): boolean =>
  signature !== undefined && mayReturn(signature, scope);

function mayReturn(signature: Opaque, { context }: RequestScope): boolean {
  return signature.origin === context.origin;
}

/** Reasoning without text consists only of its signature. */
function noteSignature(part: Part, scope: RequestScope): void {
  const whole = part.type === "reasoning" && part.text === "" ? part.path : undefined;
  scope.notes.dropped(whole ?? pathIn(scope, part, "signature"), "only the provider that created it can read it");
}

function encodeHistoryText(part: TextPart, details: JsonObject[], scope: RequestScope): JsonObject[] {
  const { signature, ...bare } = part;
  if (signature !== undefined) {
    if (scope.context.quirks.reasoningDetails && mayReturn(signature, scope)) {
      const id = part.text === "" ? EMPTY_TEXT_ID : TEXT_ID;
      details.push(encodeSignature(signature, id, details.length, spellForHost));
    } else noteSignature(part, scope);
  }
  if (part.text !== "") return [encodeText(bare, scope)];
  noteCitations(part, scope);
  return [];
}

function encodeCall(part: ToolCallPart, details: JsonObject[], scope: RequestScope): JsonObject {
  const { quirks } = scope.context;
  const id = fitToolId(part.id, quirks.toolId);
  const wire = { ...encodeToolCall({ ...part, id }), ...cacheControl(scope, part) };
  const call = withExtras(wire, ownExtras(scope, part.extras));
  const { signature } = part;
  if (signature === undefined) return call;
  if (mayReturn(signature, scope)) {
    // A signature that came in the details has their format, and returns there.
    const amongDetails = quirks.reasoningDetails !== false && signature.format !== undefined;
    if (quirks.toolSignatureKeys !== undefined && !amongDetails) {
      return withSignatureAt(call, quirks.toolSignatureKeys, signature.value);
    }
    if (quirks.reasoningDetails !== false) {
      details.push(encodeSignature(signature, id, details.length, spellForHost));
      return call;
    }
  }
  noteSignature(part, scope);
  return call;
}
