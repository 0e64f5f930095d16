import { quotedName } from "./alert.ts";
import type { PassedThreshold } from "./budget-alerts.ts";

/** A model that ends soon. */
export interface RetiringModel {
  model: string;
  /** YYYY-MM-DD, from 00:00 UTC. */
  retiresOn: string;
  days: number;
  replacedBy: string | undefined;
}

/** How often a key called it. */
export interface KeyCalls {
  key: string;
  calls: number;
}

/** How many days before the end of a model its users are warned. */
const WARNED_DAYS = [1, 7, 30];
/** How far back a call makes a model one in use. */
export const USED_DAYS = 30;
const MAX_KEYS = 20;
const DAY_MS = 86_400_000;
/** After a clock is set back, the alerts of that time must still be found. */
const KEPT_MS = 62 * DAY_MS;

/** The names of the warnings that are due, the latest first; empty if the model ends later, or has ended. */
export const dueWarnings = ({ model, retiresOn, days }: RetiringModel): string[] =>
  days === 0
    ? []
    : WARNED_DAYS.filter((warned) => days <= warned).map((warned) =>
        JSON.stringify(["retiring", model, retiresOn, warned]),
      );

/** A model in use that ends, reported once at each of the days; undefined if nobody calls it. */
export function retirementAlert(retiring: RetiringModel, used: readonly KeyCalls[]): PassedThreshold | undefined {
  const { model, retiresOn, days, replacedBy } = retiring;
  const calls = used.reduce((sum, one) => sum + one.calls, 0);
  const claims = dueWarnings(retiring);
  if (calls === 0 || claims.length === 0) return undefined;
  const when = days === 1 ? "tomorrow" : `in ${days} days`;
  const next = replacedBy === undefined ? "Choose another model" : `Use ${replacedBy} in its place`;
  return {
    claims,
    expiresAtMs: Date.parse(retiresOn) + KEPT_MS,
    draft: {
      type: "model.retiring",
      text: `The model ${quotedName(model)} retires on ${retiresOn}, ${when}. ${next}: in the last ${USED_DAYS} days it had ${counted(calls, "call")} of ${counted(used.length, "key")}.`,
      data: {
        model,
        retires_on: retiresOn,
        days,
        replaced_by: replacedBy ?? null,
        calls,
        keys: used.slice(0, MAX_KEYS).map(({ key, calls: ofKey }) => ({ key, calls: ofKey })),
        more_keys: Math.max(0, used.length - MAX_KEYS),
      },
    },
  };
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;
