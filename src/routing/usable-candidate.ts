import type { Candidate } from "./candidate.ts";
import type { HealthView } from "./health/target-health.ts";
import type { Target } from "./target.ts";
import { weightedOrder } from "./weighted-order.ts";

/** A candidate with at least one target that may be called now. */
export interface UsableCandidate<T extends Target> {
  readonly candidate: Candidate<T>;
  /** Its targets that may be called now, in the order in which they are tried. */
  readonly targets: readonly T[];
  /** One of them has a half-open breaker. */
  readonly probes: boolean;
  /** Of the best of them; undefined if none was measured lately. */
  readonly firstContentMs: number | undefined;
  readonly tokensPerSecond: number | undefined;
}

/** A target that should not be called before `untilMs`, which is infinite while its circuit breaker is open. */
export interface RestingTarget<T extends Target> {
  readonly target: T;
  readonly untilMs: number;
}

/** What decides which targets of a candidate are usable, and in which order. */
export interface HealthContext {
  readonly nowMs: number;
  readonly health: HealthView;
  /** In [0, 1). */
  readonly draw: number;
}

/** The candidate with its usable targets; undefined if it has none. Its other targets are added to `resting`. */
export function usableCandidate<T extends Target>(
  candidate: Candidate<T>,
  { nowMs, health, draw }: HealthContext,
  resting: RestingTarget<T>[],
): UsableCandidate<T> | undefined {
  const usable: T[] = [];
  let probes = false;
  let firstContentMs: number | undefined;
  let tokensPerSecond: number | undefined;
  for (const target of candidate.targets) {
    const found = health.of(target, nowMs);
    const { state } = found;
    const untilMs = state === "open" ? Number.POSITIVE_INFINITY : found.quietUntilMs;
    if (untilMs > nowMs) {
      resting.push({ target, untilMs });
      continue;
    }
    usable.push(target);
    probes ||= state === "half_open";
    firstContentMs = least(firstContentMs, found.firstContentMs);
    tokensPerSecond = most(tokensPerSecond, found.tokensPerSecond);
  }
  if (usable.length === 0) return undefined;
  return { candidate, targets: byCredentialWeight(usable, draw), probes, firstContentMs, tokensPerSecond };
}

/** The first digits of the draw decide between offers; here the later ones do, which do not depend on them. */
function byCredentialWeight<T extends Target>(usable: readonly T[], draw: number): readonly T[] {
  if (usable.length === 1) return usable;
  const weights = usable.map(({ credentialWeight }) => credentialWeight);
  return weightedOrder(weights, (draw * 65_536) % 1).flatMap((index) => usable[index] ?? []);
}

const least = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || (other !== undefined && other < one) ? other : one;

const most = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || (other !== undefined && other > one) ? other : one;
