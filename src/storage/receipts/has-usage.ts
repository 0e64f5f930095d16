import type { Storage } from "../storage.ts";
import { mayBeUnsummed, NOT_ROLLED_UP } from "./roll-up-columns.ts";

interface UsageOf {
  sinceMs: number;
  /** Exclusive. */
  untilMs: number;
  /** Those of any of these keys or projects; undefined: all. */
  names: { keys: readonly string[]; projects: readonly string[] } | undefined;
}

const DAY_MS = 86_400_000;

/** Whether there are receipts of that time, by the sums of its days: there may be millions of receipts. */
export async function hasUsage(storage: Storage, { sinceMs, untilMs, names }: UsageOf): Promise<boolean> {
  const keys = names?.keys ?? [];
  const projects = names?.projects ?? [];
  const marks = (values: readonly string[]) => ["NULL", ...values.map(() => "?")].join(", ");
  const isNamed = names === undefined ? "1 = 1" : `(key_id IN (${marks(keys)}) OR project IN (${marks(projects)}))`;
  const days = [Math.floor(sinceMs / DAY_MS), Math.ceil(untilMs / DAY_MS)];
  const summed = `SELECT 1 FROM usage_days WHERE day >= ? AND day < ? AND ${isNamed} LIMIT 1`;
  if ((await storage.query(summed, [...days, ...keys, ...projects])).length > 0) return true;
  if (!mayBeUnsummed(storage.engine)) return false;
  const unsummed = `SELECT 1 FROM receipts WHERE ${NOT_ROLLED_UP} AND ${isNamed} LIMIT 1`;
  return (await storage.query(unsummed, [...keys, ...projects])).length > 0;
}
