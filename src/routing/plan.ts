import { GatewayError } from "../canon/error.ts";
import type { Preference } from "../canon/preference.ts";
import type { Candidate } from "./candidate.ts";
import { type Chance, inOrder, type Place } from "./strategies.ts";
import type { Target } from "./target.ts";
import { type HealthContext, type RestingTarget, type UsableCandidate, usableCandidate } from "./usable-candidate.ts";

/** One target, and the reason for its place in the plan. */
export interface Planned<T extends Target = Target> {
  readonly target: T;
  readonly why: string;
}

/** The input of a plan. */
export interface PlanRequest<T extends Target> {
  /** The offers of the model, in the catalogue's order. */
  readonly candidates: readonly Candidate<T>[];
  readonly preference: Preference;
  /** Why the gateway chose the model, if it did. */
  readonly modelWhy?: string | undefined;
  /** Another model, tried after all offers of the first. */
  readonly fallback?: { readonly candidates: readonly Candidate<T>[]; readonly why: string } | undefined;
}

/** The state and the random values that a plan depends on. */
export interface PlanContext extends Chance, HealthContext {
  /** The id of the target that holds the conversation's prompt cache. */
  readonly held?: string | undefined;
}

/**
 * The targets to try for one call, in order, each with a reason (choices 6, 8). Pure. Usable offers come first, in the preferred
 * order, with the credentials of an offer next to each other; then a named fallback; then resting targets, which are tried only if
 * nothing else is left.
 */
export function plan<T extends Target>(asked: PlanRequest<T>, context: PlanContext): readonly Planned<T>[] {
  const { candidates, preference, fallback, modelWhy } = asked;
  const { chosen, last } = choose(candidates, preference);
  const planned: Planned<T>[] = [];
  const resting: RestingTarget<T>[] = [];
  for (const place of orderOf(chosen, candidates.length, preference, context, resting)) {
    addTargets(planned, place, context);
    // The credentials of one offer do not count as fallbacks.
    if (preference.fallback === "none") break;
  }
  for (const candidate of last) addFallback(planned, candidate, "the named fallback", context, resting);
  if (fallback !== undefined) {
    for (const candidate of fallback.candidates) addFallback(planned, candidate, fallback.why, context, resting);
  }
  if (resting.length > 0) addResting(planned, resting, preference, context.nowMs);
  const [first] = planned;
  if (modelWhy !== undefined && first !== undefined) {
    planned[0] = { target: first.target, why: `${modelWhy}; ${first.why}` };
  }
  return planned;
}

/** The offers that may serve the call and, separately, those of the named fallback provider. */
function choose<T extends Target>(
  candidates: readonly Candidate<T>[],
  { providers, fallback }: Preference,
): { chosen: readonly Candidate<T>[]; last: readonly Candidate<T>[] } {
  let chosen = candidates;
  if (providers !== undefined) {
    const names = new Set(providers);
    chosen = [...names].flatMap((name) => candidates.filter(({ offer }) => offer.provider === name));
    if (chosen.length === 0) throw notOffered(candidates, [...names], "provider.providers");
  }
  if (typeof fallback !== "object" || !("provider" in fallback)) return { chosen, last: [] };
  const { provider } = fallback;
  const last = candidates.filter(({ offer }) => offer.provider === provider);
  if (last.length === 0) throw notOffered(candidates, [provider], "provider.fallback");
  const others = chosen.filter(({ offer }) => offer.provider !== provider);
  // If no other provider serves the model, there is nothing to fall back from.
  return others.length === 0 ? { chosen: last, last: [] } : { chosen: others, last };
}

function notOffered(candidates: readonly Candidate[], asked: readonly string[], path: string): GatewayError {
  const offering = [...new Set(candidates.map(({ offer }) => offer.provider))].join(", ");
  const who =
    asked.length === 1 ? `The provider ${asked[0]} does not offer` : `None of the providers ${asked.join(", ")} offers`;
  const message = `${who} ${candidates[0]?.model.id}. Providers that do: ${offering}.`;
  return new GatewayError("invalid_request", message, { path });
}

/** The usable candidates in order, with the one that holds the conversation's cache first. */
function orderOf<T extends Target>(
  chosen: readonly Candidate<T>[],
  offers: number,
  preference: Preference,
  context: PlanContext,
  resting: RestingTarget<T>[],
): readonly Place<T>[] {
  const candidates: UsableCandidate<T>[] = [];
  for (const candidate of chosen) {
    const usable = usableCandidate(candidate, context, resting);
    if (usable !== undefined) candidates.push(usable);
  }
  const places =
    offers === 1
      ? candidates.map((usable) => ({ usable, why: "the only offer" }))
      : inOrder(candidates, preference, context);
  return context.held !== undefined && mayStay(preference) ? heldFirst(places, context.held) : places;
}

/** A conversation stays with its cache, unless that is turned off or the caller sets an order. */
const mayStay = ({ sticky, type = "priority", providers }: Preference): boolean =>
  sticky !== false && (type !== "priority" || providers === undefined);

function heldFirst<T extends Target>(places: readonly Place<T>[], held: string): readonly Place<T>[] {
  for (const [index, { usable }] of places.entries()) {
    const target = usable.targets.find(({ id }) => id === held);
    if (target === undefined) continue;
    const targets = [target, ...usable.targets.filter((one) => one !== target)];
    const first = { usable: { ...usable, targets }, why: "holds this conversation's prompt cache" };
    return [first, ...places.slice(0, index), ...places.slice(index + 1)];
  }
  return places;
}

function addTargets<T extends Target>(
  planned: Planned<T>[],
  { usable, why }: Place<T>,
  { health, nowMs }: PlanContext,
): void {
  for (const [index, target] of usable.targets.entries()) {
    const words = index === 0 ? why : "another credential of the same offer";
    const isProbe = usable.probes && health.of(target, nowMs).state === "half_open";
    planned.push({
      target,
      why: isProbe ? `${words}; its circuit breaker is half open, and this call is the probe` : words,
    });
  }
}

function addFallback<T extends Target>(
  planned: Planned<T>[],
  candidate: Candidate<T>,
  why: string,
  context: PlanContext,
  resting: RestingTarget<T>[],
): void {
  const usable = usableCandidate(candidate, context, resting);
  if (usable !== undefined) addTargets(planned, { usable, why }, context);
}

/** Targets in a pause, by its end, then those with an open circuit breaker. */
function addResting<T extends Target>(
  planned: Planned<T>[],
  resting: RestingTarget<T>[],
  { fallback }: Preference,
  nowMs: number,
): void {
  resting.sort((one, other) => (one.untilMs < other.untilMs ? -1 : one.untilMs > other.untilMs ? 1 : 0));
  const only = fallback === "none" ? (planned[0] ?? resting[0])?.target.offer : undefined;
  for (const { target, untilMs } of resting) {
    if (only !== undefined && target.offer !== only) continue;
    const why =
      untilMs === Number.POSITIVE_INFINITY
        ? "circuit breaker is open: tried last"
        : `its provider asked for a pause of ${Math.ceil((untilMs - nowMs) / 1000)} s: tried last`;
    planned.push({ target, why });
  }
}
