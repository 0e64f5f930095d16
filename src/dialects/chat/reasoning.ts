import { isObject, type JsonObject, objectAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { Fields } from "../../canon/fields.ts";
import type { Notes } from "../../canon/notes.ts";
import { BUDGET_OF_EFFORT, type ReasoningAmount, type ReasoningRequest, wantedAmount } from "../../canon/reasoning.ts";
import type { ModelTraits } from "../../canon/traits.ts";
import { type EffortWords, effortOfWord, encodeEffort } from "../request/effort-words.ts";
import type { ChatQuirks } from "./quirks.ts";

/** The minimum useful budget of any model. */
const MIN_BUDGET = 1024;

interface DecodedReasoning {
  desired?: ReasoningRequest;
  /** The request's own fields that were understood. */
  read: readonly string[];
  /** Unknown members of the `reasoning` object. */
  rest?: JsonObject;
}

/**
 * How much to think, and whether to show it. `reasoning_effort` takes precedence over the contract's `reasoning` object, and its budget
 * over its effort. Unknown values stay in place.
 */
export function decodeReasoning(body: JsonObject): DecodedReasoning {
  const effort = effortOfWord(body["reasoning_effort"]);
  const reasoning = new Fields(body["reasoning"]);
  const enabled = reasoning.boolean("enabled");
  const budget = reasoning.number("max_tokens");
  const word = objectAt(body, "reasoning")?.["effort"];
  const level = effortOfWord(word);
  // Like `reasoning_effort`: an unknown value stays in place.
  if (level !== undefined) reasoning.skip("effort");
  const exclude = reasoning.boolean("exclude");
  const rest = reasoning.rest();
  const found: [ReasoningAmount | undefined, string] | undefined =
    effort !== undefined
      ? [effort, "reasoning_effort"]
      : enabled === false
        ? ["off", "reasoning.enabled"]
        : budget !== undefined
          ? [{ budget }, "reasoning.max_tokens"]
          : level !== undefined
            ? [level, "reasoning.effort"]
            : enabled === true
              ? ["dynamic", "reasoning.enabled"]
              : exclude === true
                ? [undefined, "reasoning.exclude"]
                : undefined;
  const read = ["reasoning", ...(effort === undefined ? [] : ["reasoning_effort"])];
  const left = { read, ...withoutAbsent({ rest }) };
  if (found === undefined) return left;
  const [amount, path] = found;
  // `exclude: false` does not imply thinking.
  const show = exclude === true ? { show: false } : {};
  return { ...left, desired: { path, ...show, ...withoutAbsent({ amount }) } };
}

/** The properties of a provider and model that determine the fields. */
export interface ReasoningTarget {
  quirks: ChatQuirks;
  traits: Pick<ModelTraits, "efforts" | "budget">;
  /** The output limit, which a budget must stay below. */
  limit?: number;
}

const wordsOf = ({ quirks, traits }: ReasoningTarget): EffortWords => ({
  known: traits.efforts ?? quirks.efforts,
  words: quirks.effortWords,
});

/** Encodes the request in the provider's fields. Empty if it has none for it. */
export function encodeReasoning(desired: ReasoningRequest, target: ReasoningTarget, notes: Notes): JsonObject {
  const amount = wantedAmount(desired);
  const hidden = desired.show === false;
  switch (target.quirks.reasoningField) {
    case "reasoning": {
      const how = amount === undefined ? {} : encodeAmount(amount, desired.path, target, notes);
      return hidden || amount !== undefined ? { reasoning: { ...how, ...(hidden ? { exclude: true } : {}) } } : {};
    }
    case "reasoning_effort":
      return amount === undefined
        ? {}
        : { reasoning_effort: encodeEffort(amount, desired.path, wordsOf(target), notes) };
    case "thinking": {
      if (amount === undefined) return {};
      const { thinkingBudget, thinkingEffort } = target.quirks;
      if (thinkingEffort && amount !== "off" && amount !== "dynamic") {
        return {
          thinking: { type: "enabled" },
          reasoning_effort: encodeEffort(amount, desired.path, wordsOf(target), notes),
        };
      }
      const budget = encodeBudget(amount, desired.path, target, thinkingBudget, notes);
      if (budget === "off") return { thinking: { type: "disabled" } };
      return { thinking: { type: "enabled", ...withoutAbsent({ budget_tokens: budget }) } };
    }
    case "enable_thinking": {
      if (amount === undefined) return {};
      const budget = encodeBudget(amount, desired.path, target, true, notes);
      if (budget === "off") return { enable_thinking: false };
      return { enable_thinking: true, ...withoutAbsent({ thinking_budget: budget }) };
    }
    case "none":
      if (amount !== undefined) notes.dropped(desired.path, "this provider has no setting for reasoning effort");
      return {};
    default:
      return target.quirks.reasoningField satisfies never;
  }
}

function encodeAmount(amount: ReasoningAmount, path: string, target: ReasoningTarget, notes: Notes): JsonObject {
  if (amount === "off") return { enabled: false };
  if (amount === "dynamic") return { enabled: true };
  if (isObject(amount)) return { max_tokens: amount.budget };
  return { effort: encodeEffort(amount, path, wordsOf(target), notes) };
}

/** The budget to send, "off", or undefined for thinking without a budget. */
function encodeBudget(
  amount: ReasoningAmount,
  path: string,
  { traits, limit }: ReasoningTarget,
  takesBudget: boolean,
  notes: Notes,
): number | "off" | undefined {
  const least = traits.budget?.min ?? MIN_BUDGET;
  if (amount === "off" || (isObject(amount) && amount.budget === 0)) {
    if (traits.budget?.off !== false) return "off";
    notes.approximated(path, "this model cannot turn thinking off; the minimum was sent");
    return takesBudget ? least : undefined;
  }
  if (amount === "dynamic") return undefined;
  if (!takesBudget) {
    notes.approximated(path, "this provider can only turn reasoning on or off");
    return undefined;
  }
  const wanted = isObject(amount) ? amount.budget : BUDGET_OF_EFFORT[amount];
  const most = Math.min(traits.budget?.max ?? wanted, limit === undefined ? wanted : limit - 1);
  if (most < least) {
    notes.dropped(path, `the output limit leaves no room for thinking, which needs at least ${least} tokens`);
    return "off";
  }
  const budget = Math.min(most, Math.max(least, wanted));
  if (isObject(amount) && budget !== wanted)
    notes.approximated(path, `${budget} tokens is the nearest budget that fits`);
  return budget;
}
