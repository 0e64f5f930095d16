import { LONG_CONTEXT, LONG_CONTEXT_TOKENS } from "../../canon/terms.ts";
import type { Usage } from "../../canon/usage.ts";
import type { Offer } from "../../catalogue/model.ts";
import { tokensOfCharacters } from "../../dialects/reading/estimate-tokens.ts";
import type { Call } from "../call.ts";
import { outputLimit } from "../request/output-limit.ts";
import type { UsageBounds } from "./correct-usage.ts";

/** The longest context of any model, for models whose context is unknown. */
const LONGEST_CONTEXT = 10_000_000;

/** Tokens that a model without reasoning may generate without showing them: filtered output and rejected predictions. */
export const UNSHOWN_TOKENS = 4_096;
/** A token has at least one byte, and a character up to four. */
const TOKENS_PER_CHARACTER = 4;

/** What was seen of a response. */
interface SeenContent {
  /** Undefined if they were not counted. */
  characters: number | undefined;
  reasoningSeen: boolean;
}

/**
 * The highest possible values of the response's counters (decision 0085). Each time the host called the model, as far as it reports
 * that, the context and the output limit apply anew: a hosted search is one example.
 */
export function usageBounds(call: Call, reported: Usage, seen: SeenContent): UsageBounds {
  const rounds = Math.max(reported.rounds ?? 1, (reported.searches ?? 0) + 1);
  const context = contextOf(call);
  const allowed = rounds * Math.min(outputLimits(call, reported), context);
  // Some hosts generate more than a low limit. What passed through is then the bound, at most a token for each character.
  const { characters = 0 } = seen;
  const completion =
    tokensOfCharacters(characters) > allowed ? Math.min(Math.max(allowed, characters), context) : allowed;
  return { prompt: rounds * context, completion: Math.min(completion, mostShown(call, reported, seen)) };
}

/** The same for an extra pass of the host. The request's limit does not apply to it, only the model's. */
export function passBounds(call: Call, offer: Offer | undefined): UsageBounds {
  const context = contextOf(call, offer);
  return { prompt: context, completion: Math.min(offer?.maxOutputTokens ?? context, context) };
}

function contextOf({ attempt, model }: Pick<Call, "attempt" | "model">, offer = attempt?.target?.offer): number {
  const { contextLength } = offer ?? model;
  if (contextLength === undefined) return LONGEST_CONTEXT;
  return attempt?.terms.includes(LONG_CONTEXT) ? Math.max(contextLength, LONG_CONTEXT_TOKENS) : contextLength;
}

/** Some hosts raise a low limit, and some do not count reasoning towards it. */
function outputLimits(call: Call, { reasoning = 0 }: Usage): number {
  const target = call.attempt?.target;
  const codec = target?.codec;
  const limit = Math.max(outputLimit(call, Number.MAX_SAFE_INTEGER), codec?.leastOutputLimit ?? 0);
  if (reasoning === 0 || target === undefined || codec?.limitsReasoning === undefined) return limit;
  if (codec.limitsReasoning(target.provider.quirksOf(target.via))) return limit;
  return limit + Math.min(reasoning, target.offer.maxOutputTokens ?? Number.MAX_SAFE_INTEGER);
}

/** The bound by the received text, for a model that shows everything it generates. */
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
