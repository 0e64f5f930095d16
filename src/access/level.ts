import { LIMIT_NAMES, type Limits } from "./limits.ts";

/** Where limits can be set, innermost first. */
export const LEVEL_NAMES = ["key", "project", "gateway"] as const;
export type LevelName = (typeof LEVEL_NAMES)[number];

/** The id of the only level without siblings. */
export const GATEWAY_ID = "gateway";

/** A level whose limits apply to a call. */
export interface Level {
  readonly level: LevelName;
  readonly id: string;
  readonly name: string;
  readonly limits: Limits;
}

type Named = Pick<Level, "id" | "name" | "limits">;

interface Outer {
  /** Calls of a child key also count as calls of its parent: together the children can do no more than it (S05). */
  maker?: { readonly levels: readonly Level[] } | undefined;
  project?: Named | undefined;
  gateway: Limits;
}

/** The levels that limit the calls of a key, innermost first. Made when keys are read, not for each call. */
export function levelsOf(key: Named, { maker, project, gateway }: Outer): readonly Level[] {
  const levels: Level[] = [];
  if (isLimited(key.limits)) levels.push({ ...namedOf(key), level: "key" });
  levels.push(...(maker?.levels.filter(({ level }) => level === "key") ?? []));
  if (project !== undefined && isLimited(project.limits)) levels.push({ ...namedOf(project), level: "project" });
  if (isLimited(gateway)) levels.push({ level: "gateway", id: GATEWAY_ID, name: GATEWAY_ID, limits: gateway });
  return levels;
}

const namedOf = ({ id, name, limits }: Named): Named => ({ id, name, limits });

/** The name of the level in errors. */
export function subjectOf({ level, name }: Pick<Level, "level" | "name">): string {
  return level === "gateway" ? "This gateway as a whole" : `The ${level} "${name}"`;
}

function isLimited(limits: Limits): boolean {
  return LIMIT_NAMES.some((name) => limits[name] !== undefined);
}

export function hasBudget(limits: Limits): boolean {
  return (
    limits.budgetUsdPerDay !== undefined ||
    limits.budgetUsdPerMonth !== undefined ||
    limits.budgetUsdTotal !== undefined
  );
}
