import { type JsonObject, objectAt, stringAt } from "../../base/json.ts";
import type { CanonCall } from "../../canon/call.ts";
import type { Notes } from "../../canon/notes.ts";
import { BYTES, type Opaque } from "../../canon/opaque.ts";
import type { ReasoningPart } from "../../canon/part.ts";
import {
  BUDGET_OF_EFFORT,
  type Effort,
  effortOfBudget,
  nearestEffort,
  type ReasoningAmount,
  wantedAmount,
} from "../../canon/reasoning.ts";
import type { EncodeRequestContext } from "../codec.ts";

/** The minimum budget of any model that takes one. */
const MIN_BUDGET = 1024;
/** Tokens reserved for the answer if neither the client nor the catalogue sets a limit. */
const ANSWER_TOKENS = 4096;
const ADAPTIVE_EFFORTS: readonly Effort[] = ["low", "medium", "high", "max"];

/**
 * Redacted reasoning is base64 bytes here, and text in the messages protocol. The value stays unchanged and records its format, so that it
 * can return through either API.
 */
export const decodeRedacted = (encoded: string, origin: string): Opaque => ({
  origin,
  kind: "redacted",
  value: encoded,
  format: BYTES,
});

const encodeRedacted = ({ value, format }: Opaque): string =>
  format === BYTES ? value : Buffer.from(value).toString("base64");

export function decodeReasoning(raw: unknown, origin: string): ReasoningPart {
  const redacted = stringAt(raw, "redactedContent");
  if (redacted !== undefined) return { type: "reasoning", text: "", signature: decodeRedacted(redacted, origin) };
  const shown = objectAt(raw, "reasoningText");
  const signature = stringAt(shown, "signature");
  return {
    type: "reasoning",
    text: stringAt(shown, "text") ?? "",
    ...(signature ? { signature: { origin, kind: "signature", value: signature } } : {}),
  };
}

/** The block if the target itself created and signed it. Undefined for all other reasoning. */
export function encodeReasoning({ text, signature }: ReasoningPart, origin: string): JsonObject | undefined {
  if (signature?.origin !== origin) return undefined;
  switch (signature.kind) {
    case "signature":
      return { reasoningContent: { reasoningText: { text, signature: signature.value } } };
    case "redacted":
      return { reasoningContent: { redactedContent: encodeRedacted(signature) } };
    default:
      return undefined;
  }
}

/** What else in a request determines whether and how much a model can think. */
interface ReasoningRoom {
  maxTokens: number | undefined;
  /** Why the model must not think in this call, whatever was requested. */
  forbidden: string | undefined;
}

export interface EncodedReasoning {
  /** The model's own fields, in addition to the provider's. */
  fields: JsonObject;
  outputConfig: JsonObject;
  /** The model will think in the form that excludes sampling settings. */
  thinks: boolean;
  maxTokens: number | undefined;
}

/** How much to think, in the form of the model's family: a budget, an effort next to thinking, or only an effort. */
export function encodeAmount(
  call: CanonCall,
  context: EncodeRequestContext,
  room: ReasoningRoom,
  notes: Notes,
): EncodedReasoning {
  const none = { fields: {}, outputConfig: {}, thinks: false, maxTokens: room.maxTokens };
  const desired = call.reasoning;
  let amount = desired && wantedAmount(desired);
  if (desired === undefined || amount === undefined) return none;
  const { traits, origin } = context;
  if (!traits.reasoning) {
    if (amount !== "off") notes.dropped(desired.path, "this model does not support thinking");
    return none;
  }
  const form = traits.reasoningForm ?? (origin === "messages" ? "budget" : "effort");
  if (form === "effort" || form === "level")
    return { ...none, fields: encodeEffort(amount, context, desired.path, notes) };
  if (room.forbidden !== undefined && amount !== "off") {
    notes.dropped(desired.path, room.forbidden);
    amount = "off";
  }
  return form === "adaptive"
    ? { ...none, ...encodeAdaptive(call, amount, context, notes) }
    : { ...none, ...encodeBudget(amount, context, room.maxTokens, desired.path, notes) };
}

/** Efforts of models whose own list is unknown, weakest first. */
const DEFAULT_EFFORTS: readonly Effort[] = ["low", "medium", "high"];

function encodeEffort(amount: ReasoningAmount, context: EncodeRequestContext, path: string, notes: Notes): JsonObject {
  const word = nearestEffort(toEffort(amount), context.traits.efforts ?? DEFAULT_EFFORTS);
  if (word === undefined) {
    notes.dropped(path, "this model has no setting for reasoning effort");
    return {};
  }
  if (word !== amount) notes.approximated(path, `"${word}" was sent`);
  return { reasoning_effort: word === "off" ? "none" : word };
}

/** Models that take an effort think only if they get one. */
const toEffort = (amount: ReasoningAmount): Effort =>
  typeof amount === "object" ? effortOfBudget(amount.budget) : amount === "dynamic" ? "medium" : amount;

function encodeAdaptive(
  call: CanonCall,
  amount: ReasoningAmount,
  { traits }: EncodeRequestContext,
  notes: Notes,
): Partial<EncodedReasoning> {
  const path = call.reasoning?.path ?? "";
  const efforts = traits.efforts ?? ["off", ...ADAPTIVE_EFFORTS];
  const wanted = amount === "dynamic" ? undefined : toEffort(amount);
  const effort = wanted === undefined ? undefined : nearestEffort(wanted, efforts);
  if (effort === "off") return { fields: { thinking: { type: "disabled" } } };
  if (effort !== wanted || typeof amount === "object") notes.approximated(path, `"${effort}" was sent`);
  const show = call.reasoning?.show ?? (call.dialect === "chat" ? true : undefined);
  const display = show === undefined ? {} : { display: show ? "summarized" : "omitted" };
  return {
    fields: { thinking: { type: "adaptive", ...display } },
    outputConfig: effort === undefined ? {} : { effort },
    thinks: true,
  };
}

function encodeBudget(
  amount: ReasoningAmount,
  { traits }: EncodeRequestContext,
  maxTokens: number | undefined,
  path: string,
  notes: Notes,
): Partial<EncodedReasoning> {
  const least = Math.max(MIN_BUDGET, traits.budget?.min ?? MIN_BUDGET);
  if (amount === "off") {
    if (traits.budget?.off !== false) return {};
    notes.approximated(path, "this model cannot turn thinking off; the minimum was sent");
  }
  const wanted =
    typeof amount === "object"
      ? amount.budget
      : amount === "off"
        ? least
        : BUDGET_OF_EFFORT[amount === "dynamic" ? "medium" : amount];
  const limit = maxTokens ?? traits.maxOutputTokens ?? Number.POSITIVE_INFINITY;
  const budget = Math.min(Math.max(wanted, least), traits.budget?.max ?? wanted, limit - 1);
  if (budget < MIN_BUDGET) {
    notes.dropped(
      path,
      `the output limit of ${limit} leaves no room for thinking, which needs at least ${MIN_BUDGET} tokens`,
    );
    return {};
  }
  if (budget !== wanted || amount === "dynamic") notes.approximated(path, `a budget of ${budget} tokens was sent`);
  return {
    fields: { thinking: { type: "enabled", budget_tokens: budget } },
    thinks: true,
    maxTokens: maxTokens ?? traits.maxOutputTokens ?? budget + ANSWER_TOKENS,
  };
}
