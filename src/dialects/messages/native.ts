import { arrayAt, type JsonObject, numberAt, objectAt, stringAt } from "../../base/json.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import { weightOfParts } from "../../canon/reply.ts";
import { reportModel } from "../../canon/terms.ts";
import { clampOutput } from "../../canon/traits.ts";
import { countAt } from "../../canon/usage.ts";
import { editBody } from "../../wire/edit-body.ts";
import { modelJson } from "../answer/model-json.ts";
import type {
  ClientAnswer,
  NativeAnswerContext,
  NativeRequestContext,
  UnreadTexts,
  UpstreamRequest,
} from "../dialect.ts";
import { tokensOfCharacters } from "../reading/estimate-tokens.ts";
import { askedTerms, namesOfTerms, type PricedFields } from "../reading/priced-fields.ts";
import { ROUTING_FIELDS } from "../reading/routing-fields.ts";
import type { ReceivedRequest } from "../received-request.ts";
import { emptyTools } from "../request/empty-tools.ts";
import { oneLimit, otherLimits } from "../request/other-limits.ts";
import { withUpstreamNames } from "./advisor.ts";
import { decodeAnswerBlock } from "./answer/answer-content.ts";
import { failIfNoAnswer } from "./answer/fail-if-no-answer.ts";
import { decodeStop } from "./answer/stop-reason.ts";
import { consistentUsage, missingUsage, readUsage, reportUsageTerms } from "./answer/usage.ts";
import { unboundThinking } from "./bound-thinking.ts";
import { estimateMessagesTokens } from "./estimate.ts";
import type { MessagesQuirks } from "./quirks.ts";

export const PRICED_FIELDS: PricedFields = { service_tier: {}, speed: {}, inference_geo: { region: "geo" } };

export function prepareRequest(
  request: ReceivedRequest,
  context: NativeRequestContext<MessagesQuirks>,
): UpstreamRequest {
  const { body } = request;
  const notes: FieldNote[] = [];
  const set: Record<string, string> = { model: modelJson(context.upstreamModel) };
  const wanted = numberAt(body, "max_tokens");
  const budget = numberAt(objectAt(body, "thinking"), "budget_tokens") ?? 0;
  const most = context.maxOutputTokens;
  // A thinking budget above the limit is left for the host to reject.
  if (wanted !== undefined && most !== undefined && budget < most) {
    const lowered = (reason: string) => notes.push({ path: "max_tokens", action: "approximated", reason });
    const limit = clampOutput(wanted, most, lowered);
    if (limit !== wanted) set["max_tokens"] = String(limit);
  }
  const nameOf = context.upstreamName;
  const tools = nameOf && withUpstreamNames(body, nameOf, notes);
  if (tools !== undefined) set["tools"] = tools;
  const empty = emptyTools(body);
  notes.push(...empty.notes);
  const unknown = unknownFields(body, context.quirks, notes);
  const limits = otherLimits(body, "max_tokens");
  for (const path of limits) notes.push({ path, action: "dropped", reason: oneLimit("max_tokens") });
  const unsent = [...empty.remove, ...unknown, ...limits];
  const remove = unsent.length === 0 ? ROUTING_FIELDS : [...ROUTING_FIELDS, ...unsent];
  const terms = namesOfTerms(askedTerms(body, PRICED_FIELDS));
  const unbound = unboundThinking(
    { thinking: objectAt(body, "thinking"), messages: arrayAt(body, "messages") },
    context,
  );
  if (unbound === undefined) return { payload: editBody(request, { set, remove }, body), notes, terms };
  set["thinking"] = JSON.stringify(unbound.thinking);
  notes.push(unbound.note);
  return { payload: editBody(request, { set, remove }, body), notes, terms, headers: unbound.headers };
}

const CONTEXT_MANAGEMENT = "context_management";

const BETAS = "anthropic_beta";

/**
 * Compaction is a beta: hosts without betas cannot do it, and some reject the field (H52). Some hosts read betas from the body,
 * where they would not be priced; clients of this protocol send them in a header.
 */
function unknownFields(body: JsonObject, { forwardBetas }: MessagesQuirks, notes: FieldNote[]): readonly string[] {
  const managesContext = !forwardBetas && CONTEXT_MANAGEMENT in body;
  const hasBetas = BETAS in body;
  if (!managesContext && !hasBetas) return NONE;
  const removed: string[] = [];
  const remove = (path: string, reason: string) => {
    if (body[path] !== null) notes.push({ path, action: "dropped", reason });
    removed.push(path);
  };
  if (managesContext) remove(CONTEXT_MANAGEMENT, "this provider does not support context management");
  if (hasBetas) remove(BETAS, "betas are only read from the anthropic-beta header");
  return removed;
}

const NONE: readonly string[] = [];

export function patchAnswer(text: string, body: JsonObject, context: NativeAnswerContext): ClientAnswer {
  failIfNoAnswer(body);
  const stop = stringAt(body, "stop_reason");
  const set: Record<string, string> = { model: modelJson(context.publicModel) };
  if (!body["id"]) set["id"] = JSON.stringify(`msg_${context.makeId()}`);
  const usage = objectAt(body, "usage");
  reportModel(context.served, body["model"]);
  reportUsageTerms(context.served, usage);
  const counted = { ...(usage && (consistentUsage(usage) ?? usage)), ...missingUsage(usage ?? {}) };
  set["usage"] = JSON.stringify({ ...counted, ...estimatedUsage(usage, body, context) });
  return {
    text: String(editBody({ text }, { set }, body)),
    usage: readUsage(body),
    stop: stop ? decodeStop(stop) : undefined,
  };
}

export const UNREAD_TEXTS: UnreadTexts = {
  members: new Set(["text"]),
  isCounted: ({ usage }) =>
    countAt(usage, "input_tokens") !== undefined && countAt(usage, "output_tokens") !== undefined,
};

/** Estimates for counts that a host omits, as in streams. The vendor's type requires them, and clients read them. */
function estimatedUsage(
  usage: JsonObject | undefined,
  body: JsonObject,
  { request, quirks }: NativeAnswerContext,
): JsonObject {
  const said = () =>
    weightOfParts(
      arrayAt(body, "content").map((block) =>
        decodeAnswerBlock(block, { origin: "", quirks, reading: {}, makeId: () => "" }),
      ),
    );
  return {
    ...(countAt(usage, "input_tokens") === undefined ? { input_tokens: estimateMessagesTokens(request) } : {}),
    ...(countAt(usage, "output_tokens") === undefined ? { output_tokens: tokensOfCharacters(said()) } : {}),
  };
}
