import type { ListedKey } from "../api/types.ts";
import { full } from "../format/time.ts";
import { BUDGET_KINDS, NEAR, tightest } from "../state/budgets.ts";

/** What can be said of a key, the gravest first. */
const STATES = [
  "revoked",
  "expired",
  "suspended",
  "used up",
  "expiring",
  "near budget",
  "will end",
  "rotated",
  "temporary",
  "active",
] as const;
export type KeyStateName = (typeof STATES)[number];

export interface KeyState {
  name: KeyStateName;
  kind: "good" | "warn" | "bad" | "idle";
  /** What the row says. */
  text: string;
  /** The whole sentence. */
  why: string;
}

const DAY_MS = 86_400_000;
const SOON_MS = 7 * DAY_MS;
/** Keys that live no longer, such as those of the playground, are made to end: nobody has to renew them. */
const BRIEF_MS = 3_600_000;

/** How grave a state is, for sorting: the gravest of the keys that work come first. */
export const gravity = ({ name }: KeyState): number =>
  [
    "used up",
    "suspended",
    "near budget",
    "will end",
    "expiring",
    "rotated",
    "temporary",
    "active",
    "expired",
    "revoked",
  ].indexOf(name);

const within = (ms: number): string => {
  const [days, hours] = [Math.floor(ms / DAY_MS), Math.floor(ms / 3_600_000)];
  if (days >= 2) return `${days} days`;
  return hours >= 1 ? `${hours} h` : `${Math.max(1, Math.floor(ms / 60_000))} min`;
};

type Stated = Pick<
  ListedKey,
  "created_at" | "revoked_at" | "expires_at" | "previous_until" | "limits" | "spent_nano_usd" | "budgets"
>;

/** The budget that will be used up first, before its end. */
const firstToEnd = ({ budgets }: Stated) =>
  budgets
    .filter(({ exceeds_at }) => exceeds_at !== null)
    .toSorted((one, other) => Date.parse(one.exceeds_at ?? "") - Date.parse(other.exceeds_at ?? ""))[0];

/** All that is true of the key at this time, the gravest first. There is always at least one. */
export function statesOf(key: Stated, isSuspended: boolean, nowMs: number): KeyState[] {
  const { created_at, revoked_at, expires_at, previous_until } = key;
  if (revoked_at !== null)
    return [{ name: "revoked", kind: "idle", text: "revoked", why: `Revoked on ${full(revoked_at)}.` }];
  const leftMs = expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at) - nowMs;
  if (leftMs <= 0)
    return [{ name: "expired", kind: "idle", text: "expired", why: `Expired on ${full(expires_at ?? 0)}.` }];
  const states: KeyState[] = [];
  if (isSuspended)
    states.push({ name: "suspended", kind: "bad", text: "project suspended", why: "Its project is suspended." });
  const budget = tightest(key);
  if (budget !== undefined && budget.share >= 1) {
    const why = `The ${BUDGET_KINDS[budget.window]} budget is used up: calls are refused.`;
    states.push({ name: "used up", kind: "bad", text: "budget used up", why });
  } else if (budget !== undefined && budget.share >= NEAR) {
    const used = `${Math.floor(budget.share * 100)}%`;
    const why = `${used} of the ${BUDGET_KINDS[budget.window]} budget is used.`;
    states.push({ name: "near budget", kind: "warn", text: `${used} of budget`, why });
  }
  const ending = budget !== undefined && budget.share >= NEAR ? undefined : firstToEnd(key);
  if (ending !== undefined) {
    const why = `At this rate the ${BUDGET_KINDS[ending.window]} budget is used up on ${full(ending.exceeds_at ?? 0)}.`;
    const text = `budget ends in ${within(Date.parse(ending.exceeds_at ?? "") - nowMs)}`;
    states.push({ name: "will end", kind: "warn", text, why });
  }
  if (leftMs <= SOON_MS) {
    const why = `Expires on ${full(expires_at ?? 0)}.`;
    const isBrief = Date.parse(expires_at ?? "") - Date.parse(created_at ?? "") <= BRIEF_MS;
    const text = `expires in ${within(leftMs)}`;
    states.push(
      isBrief ? { name: "temporary", kind: "good", text, why } : { name: "expiring", kind: "warn", text, why },
    );
  }
  if (previous_until !== null && Date.parse(previous_until) > nowMs) {
    const why = `The previous secret works until ${full(previous_until)}.`;
    const text = `rotated, ${within(Date.parse(previous_until) - nowMs)} left`;
    states.push({ name: "rotated", kind: "good", text, why });
  }
  if (states.length === 0)
    states.push({ name: "active", kind: "good", text: "active", why: "Calls with it are served." });
  return states;
}
