import type { ProviderHealth } from "../api/types.ts";
import { duration } from "../format/numbers.ts";

export interface ShownState {
  kind: "good" | "bad" | "warn" | "idle";
  name: string;
}

const RANKS = { bad: 0, warn: 1, good: 2, idle: 3 } as const;

type Breaker = ProviderHealth["state"];

const BREAKERS: Readonly<Record<NonNullable<Breaker>, ShownState>> = {
  closed: { kind: "good", name: "healthy" },
  half_open: { kind: "warn", name: "probing" },
  open: { kind: "bad", name: "unavailable" },
};

/** The state of a credential or a model. A provider may also ask for a pause. */
export function stateOf(state: Breaker, quietMs = 0): ShownState {
  if (quietMs > 0) return { kind: "warn", name: `paused for ${duration(quietMs)}` };
  return state === null ? { kind: "idle", name: "not called yet" } : BREAKERS[state];
}

/** A provider that answers is degraded while any of its credentials or models does not. */
export function providerState({ state, credentials }: Pick<ProviderHealth, "state" | "credentials">): ShownState {
  if (state !== "closed") return stateOf(state);
  const isWhole = credentials.every(
    (one) =>
      (one.state === null || one.state === "closed") &&
      one.models.every((model) => model.state === "closed" && model.quiet_ms === 0),
  );
  return isWhole ? BREAKERS.closed : { kind: "warn", name: "degraded" };
}

/** Its credentials that are in use, or were not called yet. */
export const healthyOf = ({ credentials }: Pick<ProviderHealth, "credentials">): number =>
  credentials.filter(({ state }) => state === null || state === "closed").length;

const failing = ({ measured }: ProviderHealth): number =>
  measured === null ? 0 : measured.failures / Math.max(1, measured.calls);

/** Failing ones first. */
export const byTrouble = (one: ProviderHealth, other: ProviderHealth): number =>
  RANKS[providerState(one).kind] - RANKS[providerState(other).kind] ||
  failing(other) - failing(one) ||
  one.provider.localeCompare(other.provider);
