import { type JsonObject, stringAt } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import { Fields } from "../../../canon/fields.ts";
import type { Notes } from "../../../canon/notes.ts";
import {
  BUDGET_OF_EFFORT,
  type Effort,
  effortOfBudget,
  nearestEffort,
  type ReasoningAmount,
  type ReasoningRequest,
} from "../../../canon/reasoning.ts";
import type { ModelTraits } from "../../../canon/traits.ts";
import type { EncodeScope } from "./encode-scope.ts";

const PATH = "generationConfig.thinkingConfig";

const EFFORT_OF_LEVEL: ReadonlyMap<string, Effort> = new Map([
  ["MINIMAL", "minimal"],
  ["LOW", "low"],
  ["MEDIUM", "medium"],
  ["HIGH", "high"],
]);
const UNSPECIFIED = "THINKING_LEVEL_UNSPECIFIED";
const LEVELS: readonly Effort[] = [...EFFORT_OF_LEVEL.values()];

/** The levels that every model with levels accepts. */
const COMMON_LEVELS: readonly Effort[] = ["low", "high"];

/** A smaller budget would leave no room to think. */
const MIN_ROOM = 1024;

export function decodeThinking(raw: JsonObject): { reasoning?: ReasoningRequest; rest: JsonObject } {
  const fields = new Fields(raw);
  const budget = fields.number("thinkingBudget");
  const known = EFFORT_OF_LEVEL.get(stringAt(raw, "thinkingLevel") ?? UNSPECIFIED);
  // An unknown level goes to the extras: hosts of this protocol validate it, and for others it is reported.
  if (known !== undefined || raw["thinkingLevel"] === UNSPECIFIED) fields.skip("thinkingLevel");
  const show = fields.boolean("includeThoughts");
  const amount = budget === undefined ? known : amountOfBudget(budget);
  const rest = fields.rest() ?? {};
  if (amount === undefined && show === undefined) return { rest };
  return {
    reasoning: withoutAbsent({ path: PATH, amount, show }),
    rest,
  };
}

function amountOfBudget(budget: number): ReasoningAmount {
  if (budget < 0) return "dynamic";
  return budget === 0 ? "off" : { budget };
}

/** The model's `thinkingConfig`: a level or a budget, never both. */
export function encodeThinking(scope: EncodeScope): JsonObject | undefined {
  const { call, context, notes } = scope;
  const { reasoning } = call;
  if (reasoning === undefined) return undefined;
  const { amount, path, show } = reasoning;
  if (!context.traits.reasoning) {
    if (amount !== "off") notes.dropped(path, "this model does not support thinking");
    return undefined;
  }
  const form = context.traits.reasoningForm ?? "budget";
  const quantity: JsonObject =
    amount === undefined
      ? {}
      : form === "budget"
        ? encodeBudget(amount, scope, path)
        : encodeLevel(amount, scope, path);
  // In this protocol thoughts are shown only on request; clients of other protocols expect to see them. Hosts reject the request
  // to show them if there are none.
  const isOff = amount === "off" || quantity["thinkingBudget"] === 0;
  const shown = isOff ? undefined : (show ?? (call.dialect === "genai" ? undefined : true));
  const config = { ...quantity, ...(shown === undefined ? {} : { includeThoughts: shown }) };
  return Object.keys(config).length === 0 ? undefined : config;
}

function encodeLevel(amount: ReasoningAmount, { context, notes }: EncodeScope, path: string): JsonObject {
  // By default, such a model controls its thinking itself.
  const level = amount === "dynamic" ? undefined : nearestLevel(amount, context.traits, path, notes);
  return level === undefined ? {} : { thinkingLevel: level.toUpperCase() };
}

/** The level for an amount of thinking: the nearest one that the model accepts. */
export function nearestLevel(
  amount: Exclude<ReasoningAmount, "dynamic">,
  { efforts = COMMON_LEVELS }: Pick<ModelTraits, "efforts">,
  path: string,
  notes: Notes,
): Effort | undefined {
  const wanted = typeof amount === "string" ? amount : effortOfBudget(amount.budget);
  const known = LEVELS.filter((level) => efforts.includes(level));
  const level = nearestEffort(wanted, known);
  if (level === undefined) notes.dropped(path, "this model has no thinking levels");
  else if (level !== amount) notes.approximated(path, `this model accepts thinking levels; ${level} is the nearest`);
  return level;
}

function encodeBudget(amount: ReasoningAmount, scope: EncodeScope, path: string): JsonObject {
  const { traits } = scope.context;
  if (amount === "dynamic") return { thinkingBudget: -1 };
  if (amount === "off") return switchedOff(scope, path);
  const wanted = typeof amount === "string" ? BUDGET_OF_EFFORT[amount] : amount.budget;
  const { min, max } = traits.budget ?? { min: 0, max: Number.POSITIVE_INFINITY };
  const fitting = Math.min(Math.max(wanted, min), max);
  const room = roomFor(scope);
  if (fitting > room && room < MIN_ROOM) {
    scope.notes.dropped(path, `the output limit leaves no room for thinking, which needs at least ${MIN_ROOM} tokens`);
    return switchedOff(scope, path);
  }
  const budget = Math.max(Math.min(fitting, room), min);
  if (budget !== wanted)
    scope.notes.approximated(path, `${budget} tokens is the nearest budget that fits, not ${wanted}`);
  return { thinkingBudget: budget };
}

/** Thoughts and response share the limit. A client of this protocol knows that, so its budget is kept. */
function roomFor({ call }: EncodeScope): number {
  const { maxOutputTokens: limit, dialect } = call;
  return limit === undefined || dialect === "genai" ? Number.POSITIVE_INFINITY : limit - 1;
}

function switchedOff({ context, notes }: EncodeScope, path: string): JsonObject {
  const { budget } = context.traits;
  if (budget === undefined || budget.off) return { thinkingBudget: 0 };
  notes.approximated(path, `this model cannot turn thinking off; the minimum budget of ${budget.min} was sent`);
  return { thinkingBudget: budget.min };
}
