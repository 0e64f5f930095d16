import type { JsonObject } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import type { CanonCall, Extra } from "../../../canon/call.ts";
import { Fields } from "../../../canon/fields.ts";
import type { Notes } from "../../../canon/notes.ts";
import {
  BUDGET_OF_EFFORT,
  EFFORTS,
  type Effort,
  effortOfBudget,
  nearestEffort,
  type ReasoningAmount,
  type ReasoningRequest,
  wantedAmount,
} from "../../../canon/reasoning.ts";
import type { ModelTraits } from "../../../canon/traits.ts";

export interface DecodedReasoning {
  reasoning?: ReasoningRequest;
  /** What the canon cannot express. This dialect's encoder adds it to the encoded request. */
  extras: readonly Extra[];
}

/** Reads `thinking`, and the effort of `output_config`, which controls adaptive thinking. */
export function decodeReasoning(thinking: JsonObject | undefined, effortWord: string | undefined): DecodedReasoning {
  const effort = EFFORTS.find((one) => one === effortWord && one !== "off");
  const effortExtra = effortWord === undefined ? [] : [{ keys: ["output_config", "effort"], value: effortWord }];
  if (thinking === undefined) {
    return effort === undefined
      ? { extras: effortExtra }
      : { reasoning: { amount: effort, path: "output_config.effort" }, extras: [] };
  }
  const fields = new Fields(thinking);
  const type = fields.string("type");
  const budget = fields.number("budget_tokens");
  const display = fields.string("display");
  const extras: Extra[] = [];
  // Thinking only between tools is specific to this dialect. Elsewhere it counts as thinking.
  if (type === "between_tools") extras.push({ keys: ["thinking", "type"], value: type });
  if (display !== undefined && display !== "omitted" && display !== "summarized") {
    extras.push({ keys: ["thinking", "display"], value: display });
  }
  for (const [key, value] of Object.entries(fields.rest() ?? {})) extras.push({ keys: ["thinking", key], value });
  const dosed = type === "adaptive" || type === "between_tools";
  if (!dosed || effort === undefined) extras.push(...effortExtra);
  const amount: ReasoningAmount =
    type === "disabled" ? "off" : dosed || budget === undefined ? (effort ?? "dynamic") : { budget };
  const show = display === "omitted" ? { show: false } : display === "summarized" ? { show: true } : {};
  return { reasoning: { amount, ...show, path: "thinking" }, extras };
}

/** Used if neither the client nor the catalogue has a limit, which the dialect requires. */
export const DEFAULT_OUTPUT = 4096;
const MIN_BUDGET = 1024;
/** Tokens left for the answer where the gateway chooses the budget and there is room. */
const ANSWER_ROOM = 1024;
const DEFAULT_EFFORTS: readonly Effort[] = ["off", "low", "medium", "high", "max"];

export interface EncodedReasoning {
  thinking?: JsonObject;
  effort?: string;
  maxTokens: number;
}

export interface ReasoningTarget {
  traits: ModelTraits;
  notes: Notes;
  maxTokens: number;
  /** Neither the client nor the catalogue has a limit, so the limit may grow by the budget. */
  growing: boolean;
  /** Why the model must not think in this call, if so. */
  obstacle: string | undefined;
}

/**
 * Thinking counts against `max_tokens`, as in the limits of the other two dialects: the budget and the answer share what the
 * client allowed.
 */
export function encodeReasoning(call: CanonCall, target: ReasoningTarget): EncodedReasoning {
  const { traits, notes, maxTokens, obstacle } = target;
  const desired = call.reasoning;
  const amount = desired && wantedAmount(desired);
  const asked = amount !== undefined && amount !== "off";
  if (!traits.reasoning) {
    if (asked) notes.dropped(desired?.path ?? "reasoning", "this model does not support reasoning");
    return { maxTokens };
  }
  const adaptive = traits.reasoningForm !== undefined && traits.reasoningForm !== "budget";
  if (obstacle !== undefined) {
    if (asked) notes.dropped(desired?.path ?? "reasoning", obstacle);
    // Models with adaptive thinking may think without being asked.
    return { maxTokens, ...(adaptive ? { thinking: { type: "disabled" } } : {}) };
  }
  if (desired === undefined || amount === undefined) return { maxTokens };
  return adaptive ? encodeAdaptive(call, desired, amount, target) : encodeBudget(call, desired, amount, target);
}

/** Models with adaptive thinking take an effort, never a budget. */
function encodeAdaptive(
  { dialect }: CanonCall,
  desired: ReasoningRequest,
  amount: ReasoningAmount,
  { traits, notes, maxTokens }: ReasoningTarget,
): EncodedReasoning {
  const known = traits.efforts ?? DEFAULT_EFFORTS;
  // Newer models hide their thinking by default; clients of other dialects expect to see it.
  const shown = desired.show ?? (dialect === "messages" ? undefined : true);
  const display = shown === undefined ? {} : { display: shown ? "summarized" : "omitted" };
  const thinking = { type: "adaptive", ...display };
  if (amount === "dynamic") return { thinking, maxTokens };
  const wanted = typeof amount === "object" ? effortOfBudget(amount.budget) : amount;
  const effort = nearestEffort(wanted, known);
  if (effort === "off") return { thinking: { type: "disabled" }, maxTokens };
  if (effort !== wanted || typeof amount === "object") {
    notes.approximated(
      desired.path,
      `this model accepts an effort (${known.join(", ")}); ${effort ?? "the default"} was sent`,
    );
  }
  return withoutAbsent({ thinking, effort, maxTokens });
}

function encodeBudget(
  { dialect }: CanonCall,
  desired: ReasoningRequest,
  amount: ReasoningAmount,
  { traits, notes, maxTokens, growing }: ReasoningTarget,
): EncodedReasoning {
  const lowest = Math.max(MIN_BUDGET, traits.budget?.min ?? 0);
  // These models reason only on request, so nothing is sent to prevent it.
  if (amount === "off" && traits.budget?.off !== false) return { maxTokens };
  const wanted = budgetOf(amount, lowest);
  const inRange = Math.min(Math.max(wanted, lowest), traits.budget?.max ?? Number.POSITIVE_INFINITY);
  const limit = growing ? maxTokens + inRange : maxTokens;
  const exact = typeof amount === "object";
  const room = exact ? limit - 1 : Math.min(limit - 1, Math.max(limit - ANSWER_ROOM, lowest));
  if (room < lowest) {
    notes.dropped(
      desired.path,
      `max_tokens is ${limit}, which leaves no room for the minimum thinking budget of ${lowest}`,
    );
    return { maxTokens };
  }
  const budget = Math.min(inRange, room);
  if (amount === "off")
    notes.approximated(desired.path, `this model cannot turn thinking off; the minimum budget of ${budget} was sent`);
  else if (amount === "dynamic" || budget !== wanted) {
    notes.approximated(desired.path, `this model accepts a token budget; ${budget} was sent`);
  }
  // These models show their thinking by default, and not all of their hosts know the field. Encoders of other dialects hide it.
  const said = dialect === "messages" && desired.show !== undefined;
  const display = said ? { display: desired.show ? "summarized" : "omitted" } : {};
  return { thinking: { type: "enabled", budget_tokens: budget, ...display }, maxTokens: limit };
}

function budgetOf(amount: ReasoningAmount, lowest: number): number {
  if (typeof amount === "object") return amount.budget;
  if (amount === "off") return lowest;
  return BUDGET_OF_EFFORT[amount === "dynamic" ? "medium" : amount];
}
