import { withoutAbsent } from "../../base/without-absent.ts";
import { GatewayError } from "../../canon/error.ts";
import { countsUse, GATEWAY_ID, hasBudget, isLimited, type Level, partId, type WholeLevel } from "../level.ts";
import { changeLimits, type Limits, limitsView, readLimits } from "../limits.ts";

/** Limits for parts of the calls of a key, a project or the gateway. */
export interface PartLimits {
  readonly endUsers?: EndUserSettings;
  /** By model id; `*` matches any run of characters. All calls that match count together. */
  readonly byModel?: Readonly<Record<string, Limits>>;
  /** By tag, in the same way. */
  readonly byTag?: Readonly<Record<string, Limits>>;
}

interface EndUserSettings {
  /** Of each end user. */
  readonly limits: Limits;
  /** A call must name its end user. */
  readonly required?: boolean;
}

type Numbers = Readonly<Record<string, number>>;

/** In files, the API and the storage. */
export interface PartLimitsView {
  end_users: { limits: Numbers; required: boolean } | null;
  limits_by_model: Readonly<Record<string, Numbers>>;
  limits_by_tag: Readonly<Record<string, Numbers>>;
}

/** A change: `null` removes a limit, a pattern or a setting, and what is not named stays. */
export interface PartLimitsChange {
  end_users?: { limits?: Readonly<Record<string, number | null>>; required?: boolean } | null;
  limits_by_model?: Readonly<Record<string, Readonly<Record<string, number | null>> | null>> | null;
  limits_by_tag?: Readonly<Record<string, Readonly<Record<string, number | null>> | null>> | null;
}

/** The most patterns of models, and of tags: each call is compared with all of them. */
export const MAX_PATTERNS = 100;
const MODEL_PATTERN = /^[\x21-\x7e]{1,200}$/;
const TAG_PATTERN = /^[A-Za-z0-9_.:=/*-]{1,64}$/;

/** Undefined if nothing is limited and nothing required. Throws on what cannot be enforced. */
export function readPartLimits(given: PartLimitsChange | undefined): PartLimits | undefined {
  if (given === undefined) return undefined;
  const { end_users: endUsers, limits_by_model: byModel, limits_by_tag: byTag } = given;
  const read: PartLimits = withoutAbsent({
    endUsers: endUsers == null ? undefined : readEndUsers(endUsers),
    byModel: readPatterns(byModel, "limits_by_model", MODEL_PATTERN),
    byTag: readPatterns(byTag, "limits_by_tag", TAG_PATTERN),
  });
  return Object.keys(read).length === 0 ? undefined : read;
}

function readEndUsers({ limits, required }: NonNullable<PartLimitsChange["end_users"]>): EndUserSettings {
  return withoutAbsent({
    limits: readPartial(limits ?? {}, "end_users.limits"),
    required: required ? true : undefined,
  });
}

/** Live connections have no model, and are opened before a request says who uses it. */
export function readPartial(given: Readonly<Record<string, number | null>>, path: string): Limits {
  const set = Object.entries(given).filter((entry): entry is [string, number] => entry[1] !== null);
  const limits = readLimits(Object.fromEntries(set), path);
  if (limits.sessions === undefined) return limits;
  const message = `${path}.sessions is not possible: open sessions are limited for keys, projects and the gateway.`;
  throw new GatewayError("invalid_request", message, { path: `${path}.sessions` });
}

function readPatterns(
  given: PartLimitsChange["limits_by_model"],
  path: string,
  allowed: RegExp,
): Readonly<Record<string, Limits>> | undefined {
  const entries = Object.entries(given ?? {}).flatMap(([pattern, limits]) =>
    limits === null ? [] : [[pattern, limits] as const],
  );
  if (entries.length === 0) return undefined;
  if (entries.length > MAX_PATTERNS) {
    throw new GatewayError("invalid_request", `${path} has more than ${MAX_PATTERNS} patterns.`, { path });
  }
  return Object.fromEntries(
    entries.map(([pattern, limits]) => {
      if (!allowed.test(pattern)) {
        const message = `${path} has ${JSON.stringify(pattern.slice(0, 80))}, which cannot match anything.`;
        throw new GatewayError("invalid_request", message, { path });
      }
      return [pattern, readPartial(limits, `${path}["${pattern}"]`)];
    }),
  );
}

const viewsOf = (limits: Readonly<Record<string, Limits>> | undefined): Record<string, Numbers> =>
  Object.fromEntries(Object.entries(limits ?? {}).map(([pattern, one]) => [pattern, limitsView({ ...one })]));

/** As files and the API spell them. */
export const partLimitsView = (limits: PartLimits | undefined): PartLimitsView => ({
  end_users:
    limits?.endUsers === undefined
      ? null
      : { limits: limitsView({ ...limits.endUsers.limits }), required: limits.endUsers.required === true },
  limits_by_model: viewsOf(limits?.byModel),
  limits_by_tag: viewsOf(limits?.byTag),
});

/** As they are stored; undefined if there are none. */
export const storedPartLimits = (limits: PartLimits | undefined): PartLimitsView | undefined =>
  limits === undefined ? undefined : partLimitsView(limits);

/** Changes those that are named. */
export function changePartLimits(stored: PartLimits | undefined, change: PartLimitsChange): PartLimits | undefined {
  const before = partLimitsView(stored);
  const { end_users: users = before.end_users } = change;
  return readPartLimits({
    end_users:
      users === null
        ? null
        : {
            limits: changeLimits(before.end_users?.limits ?? {}, users.limits ?? {}, "end_users.limits"),
            required: users.required ?? before.end_users?.required ?? false,
          },
    limits_by_model: changePatterns(before.limits_by_model, change.limits_by_model, "limits_by_model"),
    limits_by_tag: changePatterns(before.limits_by_tag, change.limits_by_tag, "limits_by_tag"),
  });
}

function changePatterns(
  before: Readonly<Record<string, Numbers>>,
  change: PartLimitsChange["limits_by_model"],
  path: string,
): Readonly<Record<string, Numbers>> {
  if (change === undefined) return before;
  if (change === null) return {};
  const after: Record<string, Numbers> = { ...before };
  for (const [pattern, limits] of Object.entries(change)) {
    if (limits === null) delete after[pattern];
    else after[pattern] = changeLimits(before[pattern] ?? {}, limits, `${path}["${pattern.slice(0, 80)}"]`);
  }
  return after;
}

/** A key, a project or the gateway with limits for parts of its calls. */
export interface PartScope extends WholeLevel {
  readonly limits: PartLimits;
}

type Named = Pick<WholeLevel, "id" | "name"> & { readonly partLimits?: PartLimits | undefined };

interface Outer {
  maker?: { readonly parts?: readonly PartScope[] } | undefined;
  project?: Named | undefined;
  gateway: PartLimits | undefined;
}

/** Undefined if there are none. A call without them checks nothing else. */
export function partScopesOf(key: Named, { maker, project, gateway }: Outer): readonly PartScope[] | undefined {
  const scopes: PartScope[] = [];
  if (key.partLimits !== undefined) scopes.push({ level: "key", id: key.id, name: key.name, limits: key.partLimits });
  scopes.push(...(maker?.parts?.filter(({ level }) => level === "key") ?? []));
  if (project?.partLimits !== undefined)
    scopes.push({ level: "project", id: project.id, name: project.name, limits: project.partLimits });
  if (gateway !== undefined) scopes.push({ level: "gateway", id: GATEWAY_ID, name: GATEWAY_ID, limits: gateway });
  return scopes.length === 0 ? undefined : scopes;
}

const levelOf = (scope: PartScope, level: Level["level"], name: string, limits: Limits): Level => ({
  level,
  id: partId(scope, name),
  name,
  limits,
  within: { level: scope.level, id: scope.id, name: scope.name },
});

/** The levels of models or of tags of a scope. */
export const patternLevels = (scope: PartScope, level: "model" | "tag"): Level[] =>
  Object.entries((level === "model" ? scope.limits.byModel : scope.limits.byTag) ?? {}).flatMap(([pattern, limits]) =>
    isLimited(limits) ? [levelOf(scope, level, pattern, limits)] : [],
  );

/** The level of one end user of a scope. */
export const endUserLevel = (scope: PartScope, user: string, limits: Limits): Level =>
  levelOf(scope, "end_user", user, limits);

const allLimits = ({ endUsers, byModel = {}, byTag = {} }: PartLimits): Limits[] => [
  ...(endUsers === undefined ? [] : [endUsers.limits]),
  ...Object.values(byModel),
  ...Object.values(byTag),
];

export const requiresEndUser = (scopes: readonly PartScope[]): boolean =>
  scopes.some(({ limits }) => limits.endUsers?.required === true);

/** Whether calls need an estimate of their use. An end user may have limits of its own, so all of those may need one. */
export const partsCountUse = (scopes: readonly PartScope[]): boolean =>
  scopes.some(({ limits }) => limits.endUsers !== undefined || allLimits(limits).some(countsUse));

/** Whether calls cost money that one of these limits counts. */
export const partsHaveBudget = (scopes: readonly PartScope[]): boolean =>
  scopes.some(({ limits }) => allLimits(limits).some(hasBudget));
