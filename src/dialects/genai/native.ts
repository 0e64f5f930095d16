import { arrayAt, type JsonObject, numberAt, objectAt, stringAt } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import { clampOutput } from "../../canon/traits.ts";
import { type BodySource, editBody } from "../../wire/edit-body.ts";
import { changeElements, changeValue, ObjectEdit } from "../../wire/json-text.ts";
import { requireFewChoices } from "../answer/answer-bounds.ts";
import type {
  ClientAnswer,
  NativeAnswerContext,
  NativeRequestContext,
  UnreadTexts,
  UpstreamRequest,
} from "../dialect.ts";
import { askedTerms, namesOfTerms, type PricedFields } from "../reading/priced-fields.ts";
import { ROUTING_FIELDS } from "../reading/routing-fields.ts";
import type { ReceivedRequest } from "../received-request.ts";
import { emptyTools } from "../request/empty-tools.ts";
import { AnswerStamp } from "./answer/answer-stamp.ts";
import { decodeErrorObject } from "./answer/errors.ts";
import { HostedTools } from "./answer/hosted-tools.ts";
import { decodeStop, encodeFinishReason } from "./answer/stop-reason.ts";
import { decodeUsage, reportUsageTerms } from "./answer/usage.ts";
import type { GenaiOptions } from "./options.ts";
import type { GenaiQuirks } from "./quirks.ts";
import { methodNotes, removeMethods } from "./safety-method.ts";

export const PRICED_FIELDS: PricedFields = { serviceTier: {} };

export function prepareRequest(request: ReceivedRequest, context: NativeRequestContext<GenaiQuirks>): UpstreamRequest {
  const { body } = request;
  const notes: FieldNote[] = [];
  const wanted = numberAt(objectAt(body, "generationConfig"), "maxOutputTokens");
  const settings = body["safetySettings"];
  const unknownMethods = context.quirks.labels ? [] : methodNotes(settings);
  notes.push(...unknownMethods);
  let source: BodySource = unknownMethods.length === 0 ? request : { text: removeMethods(request.text, settings) };
  if (wanted !== undefined) {
    const path = "generationConfig.maxOutputTokens";
    const limit = clampOutput(wanted, context.maxOutputTokens, (reason) =>
      notes.push({ path, action: "approximated", reason }),
    );
    if (limit !== wanted) {
      source = { text: changeValue(source.text, ["generationConfig", "maxOutputTokens"], () => String(limit)) };
    }
  }
  if (!context.reasons && objectAt(objectAt(body, "generationConfig"), "thinkingConfig") !== undefined) {
    const withoutThinking = (config: string) => new ObjectEdit(config).remove("thinkingConfig").toString();
    source = { text: changeValue(source.text, ["generationConfig"], withoutThinking) };
    notes.push(...thinkingNotes(body));
  }
  // The model is in the URL.
  const remove: string[] = ["model", ...ROUTING_FIELDS, ...emptyTools(body).remove];
  if (!context.quirks.labels && "labels" in body) {
    remove.push("labels");
    notes.push({ path: "labels", action: "dropped", reason: "this provider does not support labels" });
  }
  const untouched = !remove.some((key) => key in body);
  return {
    payload: untouched ? (source.bytes ?? source.text) : editBody(source, { set: {}, remove }, body),
    notes,
    terms: namesOfTerms(askedTerms(body, PRICED_FIELDS)),
  };
}

/** A request for no thinking loses nothing on a model that does not think. */
function thinkingNotes(body: JsonObject): FieldNote[] {
  const thinking = objectAt(objectAt(body, "generationConfig"), "thinkingConfig");
  if (numberAt(thinking, "thinkingBudget") === 0) return [];
  return [
    { path: "generationConfig.thinkingConfig", action: "dropped", reason: "this model does not support thinking" },
  ];
}

/** Every response has one of these, even an empty one. */
const ANSWER_FIELDS = ["candidates", "promptFeedback", "usageMetadata"];

export function patchAnswer(
  text: string,
  body: JsonObject,
  context: NativeAnswerContext<GenaiQuirks, GenaiOptions>,
): ClientAnswer {
  if (objectAt(body, "error")) throw decodeErrorObject(body);
  const { data, stop } = patchCandidates(text, body, context.options.bareFinishReason);
  const blocked = stringAt(objectAt(body, "promptFeedback"), "blockReason");
  if (!ANSWER_FIELDS.some((field) => field in body))
    throw new GatewayError("upstream_failed", "The provider's response has no candidates.");
  const set = new AnswerStamp(context).lacking(body);
  reportUsageTerms(context.served, body);
  const usage = decodeUsage(body);
  return {
    text: String(editBody({ text: data }, { set }, body)),
    usage: usage && HostedTools.in(body).addTo(usage),
    stop: stop ?? (blocked === undefined ? undefined : { unified: "filter", raw: blocked }),
  };
}

export const UNREAD_TEXTS: UnreadTexts = { members: new Set(["text"]), isCounted: () => true };

/**
 * Writes the finish reason in the spelling that this client reads (choices 3), and omits an empty one, which means "not yet".
 * Citations under the older name, the only one that some of the vendor's readers know, are added under the contract's name too
 * (contract 2.7).
 */
export function patchCandidates(
  text: string,
  answer: JsonObject,
  bare: boolean,
): { data: string; stop: ClientAnswer["stop"] } {
  const candidates = arrayAt(answer, "candidates");
  requireFewChoices(candidates.length);
  const changes = new Map<number, (candidate: string) => string>();
  let stop: ClientAnswer["stop"];
  for (const [position, candidate] of candidates.entries()) {
    const raw = stringAt(candidate, "finishReason");
    if (raw) stop ??= decodeStop(raw);
    const word = raw && encodeFinishReason(raw, bare);
    const cited = objectAt(candidate, "citationMetadata");
    const copies = cited?.["citationSources"] !== undefined && cited["citations"] === undefined;
    if (raw === "" || word !== raw || copies) changes.set(position, (text) => patchCandidate(text, word, copies));
  }
  return { data: changes.size === 0 ? text : changeElements(text, ["candidates"], changes), stop };
}

function patchCandidate(text: string, word: string | undefined, copies: boolean): string {
  const edit = new ObjectEdit(text);
  if (word === "") edit.remove("finishReason");
  else if (word !== undefined) edit.set("finishReason", JSON.stringify(word));
  if (copies) edit.set("citationMetadata", copyCitations(edit.get("citationMetadata") ?? "{}"));
  return edit.toString();
}

function copyCitations(text: string): string {
  const edit = new ObjectEdit(text);
  return edit.set("citations", edit.get("citationSources") ?? "[]").toString();
}
