import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import { GatewayError, paidFailure } from "../../../canon/error.ts";
import { Fields } from "../../../canon/fields.ts";
import type { Part } from "../../../canon/part.ts";
import type { CanonReply, ReplyPart } from "../../../canon/reply.ts";
import { reportModel, reportTerms } from "../../../canon/terms.ts";
import { noteModeration } from "../../answer/note-moderation.ts";
import type { DecodeAnswerContext } from "../../codec.ts";
import type { ChatQuirks } from "../quirks.ts";
import { readFromHost } from "../reasoning-details.ts";
import { decodeMessage } from "../request/decode-message.ts";
import { hasBrokenCall } from "../tool-call.ts";
import { decodeSources } from "./annotations.ts";
import { answerError, noChoices } from "./answer-error.ts";
import { decodeLogprobs } from "./logprobs.ts";
import { ReasoningTags } from "./reasoning-tags.ts";
import { decodeStopBeside, decodeStopSequence, finishOf, isFailureWord } from "./stop-reason.ts";
import { readUsage } from "./usage.ts";

export function decodeResponse(body: JsonObject, context: DecodeAnswerContext<ChatQuirks>): CanonReply {
  const failure = answerError(body);
  if (failure !== undefined) throw failure;
  const choice = firstChoice(body);
  if (choice === undefined) throw noChoices();
  const finish = finishOf(choice, objectAt(choice, "message"), hasBrokenCall) ?? "";
  const { quirks, origin } = context;
  const usage = readUsage(body, quirks);
  if (isFailureWord(finish)) throw paidFailure(brokeOff(finish), usage);
  const message = new Fields(objectAt(choice, "message"));
  const decoded = decodeMessage(message, {
    readOrigin: readFromHost(origin),
    makeId: () => `call_${context.makeId()}`,
    ...(quirks.toolSignatureKeys === undefined ? {} : { toolSignature: { keys: quirks.toolSignatureKeys, origin } }),
  });
  const tagged = quirks.reasoningTags === undefined ? decoded : withoutTags(decoded, quirks.reasoningTags);
  const parts = withSources(tagged, body).flatMap(asReplyPart);
  reportModel(context.served, body["model"]);
  reportTerms(context.served, body["service_tier"]);
  noteModeration(body, context.note);
  const logprobs = decodeLogprobs(choice);
  return {
    ...decodeMetadata(body),
    parts,
    stop: decodeStopBeside(
      finish,
      parts.some((part) => part.type === "tool-call"),
    ),
    ...decodeStopSequence(finish, choice["stop_reason"]),
    ...withoutAbsent({ usage }),
    ...(logprobs.length > 0 ? { logprobs } : {}),
  };
}

/** Contract 2.13: there is one answer, the first if a provider returns several. */
export function firstChoice(body: JsonObject): JsonObject | undefined {
  const choices = arrayAt(body, "choices").filter(isObject);
  return choices.find((choice) => choice["index"] === 0) ?? choices.find((choice) => choice["index"] === undefined);
}

export function decodeMetadata(body: JsonObject): { id?: string; created?: number } {
  const id = stringAt(body, "id");
  const created = numberAt(body, "created");
  return { ...(id ? { id } : {}), ...(created ? { created } : {}) };
}

export function brokeOff(finish: string): GatewayError {
  return new GatewayError("upstream_failed", `The provider ended the response early (${finish}).`);
}

function withoutTags(parts: readonly Part[], tags: { open: string; close: string }): Part[] {
  const first = parts.findIndex((part) => part.type === "text");
  return parts.flatMap((part, index) => {
    if (index !== first || part.type !== "text") return [part];
    const reader = new ReasoningTags(tags);
    return [...reader.push(part.text), ...reader.end()].map(
      ({ reasoning, text }): Part => (reasoning ? { type: "reasoning", text } : { ...part, text }),
    );
  });
}

function withSources(parts: readonly Part[], body: JsonObject): readonly Part[] {
  const sources = decodeSources(body);
  if (sources.length === 0 || parts.some((part) => part.type === "text" && part.citations !== undefined)) return parts;
  const last = parts.findLast((part) => part.type === "text");
  return parts.map((part) => (part === last && part.type === "text" ? { ...part, citations: sources } : part));
}

/** Drops parts that only requests can have, and unknown fields. */
function asReplyPart(part: Part): ReplyPart[] {
  if (part.type === "tool-result" || part.type === "search-result") return [];
  const { extras: _extras, cache: _cache, ...rest } = part;
  return [rest];
}
