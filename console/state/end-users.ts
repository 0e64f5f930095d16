import type { EndUser, Key, Project } from "../api/types.ts";
import { LIMITS, type LimitName } from "./limits.ts";

/** A key or a project of which an end user may have limits of its own. */
export interface Owner {
  project: string;
  key?: string;
}

/** The projects first, because a limit there counts all keys; those with most use first. */
export function ownersOf({ keys, limits }: EndUser): Owner[] {
  const owners = new Map<string, Owner>();
  const add = (owner: Owner) => owners.set(`${owner.project} ${owner.key ?? ""}`, owner);
  const byUse = keys.toSorted((one, other) => other.spent_nano_usd.total - one.spent_nano_usd.total);
  for (const { project } of byUse) add({ project });
  for (const { project, key } of byUse) add({ project, key });
  for (const { project, key } of limits) if (project !== null) add(key === null ? { project } : { project, key });
  return [...owners.values()];
}

export const limitsAt = (item: EndUser, owner: Owner): Readonly<Record<string, number | null>> =>
  item.limits.find(({ project, key }) => project === owner.project && (key ?? undefined) === owner.key)?.limits ?? {};

/** Limits of one end user apply where the key or project limits end users at all. */
export function switchOf(
  { project, key }: Owner,
  keys: readonly Pick<Key, "id" | "from" | "end_users">[],
  projects: readonly Pick<Project, "id" | "from" | "end_users">[],
): { isOn: boolean; isInFile: boolean; address: string } {
  const found = key === undefined ? projects.find(({ id }) => id === project) : keys.find(({ id }) => id === key);
  return {
    isOn: found?.end_users != null,
    isInFile: found === undefined || found.from === "file",
    address:
      key === undefined ? `/api/projects/${encodeURIComponent(project)}` : `/api/keys/${encodeURIComponent(key)}`,
  };
}

const NAMES: Readonly<Partial<Record<LimitName, string>>> = {
  budget_usd_per_day: "a day",
  budget_usd_per_week: "a week",
  budget_usd_per_month: "a month",
  budget_usd_per_quarter: "a quarter",
  budget_usd_total: "in total",
};

/** `$5 a day, 20 requests per minute` */
export const limitWords = (limits: Readonly<Record<string, number | null>>): string =>
  Object.entries(limits)
    .map(([name, value]) => {
      const period = NAMES[name as LimitName];
      const called = LIMITS[name as LimitName]?.name.toLowerCase() ?? name.replaceAll("_", " ");
      if (value === null) return `no limit on ${called.replace(" (usd)", "")}`;
      return period === undefined ? `${value.toLocaleString("en-US")} ${called}` : `$${value} ${period}`;
    })
    .join(", ");

export const endUserAddress = (id: string): string => `/end-users/${encodeURIComponent(id)}`;
