import type { Sources } from "../../base/sources.ts";
import { GatewayError } from "../../canon/error.ts";
import type { Storage } from "../../storage/storage.ts";
import { type StoredEndUserLimits, selectEndUserLimits, writeEndUserLimits } from "../../storage/tables/end-users.ts";
import { type Actor, changesOf, recordAct } from "../audit.ts";
import type { WholeLevelName } from "../level.ts";
import { LIMIT_NAMES, wireName } from "../limits.ts";
import { readPartial } from "./part-limits.ts";

/** An end user of a key, a project or the gateway. */
export interface EndUserOwner {
  level: WholeLevelName;
  /** The id of the key or project; `gateway` for the gateway. */
  owner: string;
  /** The project of the key, or the project. */
  project?: string | undefined;
}

type Changes = Readonly<Record<string, number | null>>;

/** The limits as files spell them; `null` removes a default limit. */
export function endUserLimitsView(limits: Changes): Record<string, number | null> {
  return Object.fromEntries(
    LIMIT_NAMES.flatMap((name) => {
      const value = limits[name];
      return value === undefined ? [] : [[wireName(name), value] as const];
    }),
  );
}

/** Sets the limits of one end user, which replace the defaults; `undefined` removes them. */
export async function setEndUserLimits(
  storage: Storage,
  endUser: string,
  { level, owner, project }: EndUserOwner,
  limits: Changes | undefined,
  sources: Sources,
  actor: Actor,
): Promise<void> {
  const stored = limits === undefined ? undefined : readChanges(limits);
  await storage.transaction(async (queries) => {
    const all = await selectEndUserLimits(queries, [endUser]);
    const before = all.find((one) => one.level === level && one.owner === owner)?.limits;
    if (stored === undefined && before === undefined) throw noLimits(endUser);
    const changedAtMs = Math.floor(sources.clock.wallMs());
    await writeEndUserLimits(queries, { level, owner, endUser, limits: stored, changedAtMs });
    const shown = (one: Changes | undefined) => ({
      level,
      owner,
      limits: one === undefined ? null : endUserLimitsView(one),
    });
    const act = {
      ...actor,
      act: stored === undefined ? "end_user.reset" : "end_user.limit",
      target: endUser,
      ...(project !== undefined && { project }),
      ...changesOf(shown(before), shown(stored)),
    };
    await recordAct(queries, act, sources);
  });
}

/** Under the program's names. */
function readChanges(limits: Changes): Record<string, number | null> {
  const set = readPartial(limits, "limits");
  const lifted = Object.keys(limits).filter((name) => limits[name] === null);
  // Unknown names are refused for lifted limits as well.
  readPartial(Object.fromEntries(lifted.map((name) => [name, name.includes("budget") ? 0 : 1])), "limits");
  const names = new Map(
    LIMIT_NAMES.flatMap(
      (name) =>
        [
          [name as string, name],
          [wireName(name), name],
        ] as const,
    ),
  );
  return { ...set, ...Object.fromEntries(lifted.map((name) => [names.get(name) ?? name, null])) };
}

const noLimits = (endUser: string): GatewayError =>
  new GatewayError("not_found", `The end user ${JSON.stringify(endUser)} has no own limits for this project or key.`, {
    code: "end_user_limits_not_found",
  });

export type { StoredEndUserLimits };
