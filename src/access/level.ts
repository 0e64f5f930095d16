import { LIMIT_NAMES, type Limits } from "./limits.ts";

/** Where limits can be set for all calls, innermost first. */
export const WHOLE_LEVELS = ["key", "project", "gateway"] as const;
export type WholeLevelName = (typeof WHOLE_LEVELS)[number];

/** And for a part of the calls of one of these. */
const PART_LEVELS = ["end_user", "model", "tag"] as const;
export type PartLevelName = (typeof PART_LEVELS)[number];

export const LEVEL_NAMES = [...WHOLE_LEVELS, ...PART_LEVELS] as const;
export type LevelName = (typeof LEVEL_NAMES)[number];

/** The id of the only level without siblings. */
export const GATEWAY_ID = "gateway";

/** A key, a project or the gateway. */
export interface WholeLevel {
  readonly level: WholeLevelName;
  readonly id: string;
  readonly name: string;
}

/** A level whose limits apply to a call. */
export interface Level {
  readonly level: LevelName;
  readonly id: string;
  /** Of a part: the end user, or the pattern of the models or tags. */
  readonly name: string;
  readonly limits: Limits;
  /** What it is a part of; absent for a key, a project and the gateway. */
  readonly within?: WholeLevel;
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

/** No name or id contains it. */
const SEPARATOR = "\n";

/** The id of a part, which is unique among all parts. */
export const partId = (within: Pick<WholeLevel, "level" | "id">, name: string): string =>
  [within.level, within.id, name].join(SEPARATOR);

/** The key, project or gateway of a part, and the end user or the pattern. */
export function readPartId(id: string): { level: WholeLevelName; id: string; name: string } | undefined {
  const [level, ofWhole, name] = id.split(SEPARATOR, 3);
  const known = WHOLE_LEVELS.find((one) => one === level);
  return known === undefined || ofWhole === undefined || name === undefined
    ? undefined
    : { level: known, id: ofWhole, name };
}

const PART_WORDS: Readonly<Record<PartLevelName, (name: string) => string>> = {
  end_user: (name) => `The end user "${name}"`,
  model: (name) => `The model ${name}`,
  tag: (name) => `The tag ${name}`,
};

/** The name of the level in errors. */
export function subjectOf({ level, name, within }: Pick<Level, "level" | "name" | "within">): string {
  if (level === "gateway") return "This gateway as a whole";
  if (level === "key" || level === "project") return `The ${level} "${name}"`;
  const whole = within === undefined || within.level === "gateway" ? "" : ` (${within.level} "${within.name}")`;
  return `${PART_WORDS[level](name)}${whole}`;
}

/** What all tenants have used together is not for each of them to know. */
export const hidesUse = ({ level, within }: Pick<Level, "level" | "within">): boolean =>
  level === "gateway" || within?.level === "gateway";

export function isLimited(limits: Limits): boolean {
  return LIMIT_NAMES.some((name) => limits[name] !== undefined);
}

/** Whether one of the limits is on money. */
export function hasBudget(limits: Limits): boolean {
  return LIMIT_NAMES.some((name) => name.startsWith("budget") && limits[name] !== undefined);
}

/** Whether an estimate of the call's usage is needed. */
export const countsUse = (limits: Limits): boolean =>
  limits.tokensPerMinute !== undefined || limits.tokensPerDay !== undefined || hasBudget(limits);
