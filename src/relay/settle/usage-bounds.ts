import { LONG_CONTEXT, LONG_CONTEXT_TOKENS } from "../../canon/terms.ts";
import type { Usage } from "../../canon/usage.ts";
import type { Offer } from "../../catalogue/model.ts";
import type { Call } from "../call.ts";
import { outputLimit } from "../request/output-limit.ts";
import type { UsageBounds } from "./correct-usage.ts";

/** No model has a longer context; for those of which none is known. */
const LONGEST_CONTEXT = 10_000_000;

/** Tokens that a model without reasoning may generate and not show: what a filter withholds, predictions that were rejected. */
export const UNSHOWN_TOKENS = 4_096;
/** A token has at least one byte, and a character up to four. */
const TOKENS_PER_CHARACTER = 4;

/** What was seen of an answer, as far as it bounds what was generated. */
interface SeenContent {
  /** Undefined where they were not counted. */
  characters: number | undefined;
  reasoningSeen: boolean;
}

/**
 * The most tokens that the answer's own counters can come to (decision 0085). Each time that the host called the model, as far as
 * it reports them, has the context and the output limit anew: a hosted search is such a time.
 */
export function usageBounds(call: Call, reported: Usage, seen: SeenContent): UsageBounds {
  const rounds = Math.max(reported.rounds ?? 1, (reported.searches ?? 0) + 1);
  const context = contextOf(call);
  const completion = rounds * Math.min(outputLimits(call, reported), context);
  return { prompt: rounds * context, completion: Math.min(completion, mostShown(call, reported, seen)) };
}

/** The same of a pass that the host ran by itself: the request's limit does not hold for it, only that of the model. */
export function passBounds(call: Call, offer: Offer | undefined): UsageBounds {
  const context = contextOf(call, offer);
  return { prompt: context, completion: Math.min(offer?.maxOutputTokens ?? context, context) };
}

function contextOf({ attempt, model }: Pick<Call, "attempt" | "model">, offer = attempt?.target?.offer): number {
  const { contextLength } = offer ?? model;
  if (contextLength === undefined) return LONGEST_CONTEXT;
  return attempt?.terms.includes(LONG_CONTEXT) ? Math.max(contextLength, LONG_CONTEXT_TOKENS) : contextLength;
}

/** Some hosts raise a low limit, and some do not count reasoning against it. */
function outputLimits(call: Call, { reasoning = 0 }: Usage): number {
  const target = call.attempt?.target;
  const codec = target?.codec;
  const limit = Math.max(outputLimit(call, Number.MAX_SAFE_INTEGER), codec?.leastOutputLimit ?? 0);
  if (reasoning === 0 || target === undefined || codec?.limitsReasoning === undefined) return limit;
  if (codec.limitsReasoning(target.provider.quirksOf(target.via))) return limit;
  return limit + Math.min(reasoning, target.offer.maxOutputTokens ?? Number.MAX_SAFE_INTEGER);
}

/** By the text that came, of a model that shows all that it generates. */
function mostShown(
  { attempt, model }: Call,
  { reasoning = 0 }: Usage,
  { characters, reasoningSeen }: SeenContent,
): number {
  const { reasoning: reasons, outputModalities } = attempt?.target?.model ?? model;
  if (characters === undefined) return Number.MAX_SAFE_INTEGER;
  const showsAll = !reasons && !reasoningSeen && reasoning === 0 && outputModalities.every((kind) => kind === "text");
  return showsAll ? characters * TOKENS_PER_CHARACTER + UNSHOWN_TOKENS : Number.MAX_SAFE_INTEGER;
}
