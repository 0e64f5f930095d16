import { measureOf, windowOf } from "./budget.ts";
import { LEVEL_NAMES, type LevelName } from "./level.ts";
import { LIMIT_NAMES, type LimitName, wireName } from "./limits.ts";
import { windowEndMs, windowStartMs } from "./spend-meter.ts";

/** A limit of a level, for one day or month if it has one, as all instances name it. */
export interface SharedWindow {
  level: LevelName;
  id: string;
  limit: LimitName;
  /** When the day or month begins; 0 if there is none. */
  sinceMs: number;
  /** Exclusive. */
  untilMs: number;
}

/** The window that contains a moment. */
export function windowAt(
  { level, id }: { level: LevelName; id: string },
  limit: LimitName,
  wallMs: number,
): SharedWindow {
  const measure = measureOf(limit);
  const window = measure === undefined ? "total" : windowOf(measure);
  const untilMs = windowEndMs(window, wallMs) ?? Number.POSITIVE_INFINITY;
  return { level, id, limit, sinceMs: windowStartMs(window, wallMs), untilMs };
}

/** `budget_usd_per_day:1790000000000:key:key_1`. The id is last, because it may contain anything. */
export const windowName = ({ level, id, limit, sinceMs }: SharedWindow): string =>
  `${wireName(limit)}:${sinceMs}:${level}:${id}`;

const NAME = new RegExp(`^(\\w+):(\\d+):(${LEVEL_NAMES.join("|")}):([\\s\\S]*)$`);

/** Undefined if it is not the name of a limit on what the ledger counts. */
export function readBudgetName(name: string): SharedWindow | undefined {
  const [, wire, since, level, id] = NAME.exec(name) ?? [];
  const limit = LIMIT_NAMES.find((one) => measureOf(one) !== undefined && wireName(one) === wire);
  if (limit === undefined || level === undefined || id === undefined) return undefined;
  return windowAt({ level: level as LevelName, id }, limit, Number(since));
}
