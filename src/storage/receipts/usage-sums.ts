import { number, text } from "../columns.ts";
import { type Queries, REPORT_MS, START_SUMS_MS, type Storage } from "../storage.ts";
import { firstIdOf } from "./receipt-ids.ts";
import { mayBeUnsummed, NOT_ROLLED_UP } from "./roll-up-columns.ts";

const DAY_MS = 86_400_000;

interface InstanceCost {
  keyId: string;
  project: string;
  costNanoUsd: number;
}

/** What one process has booked for each key, for calls that began in the range. */
export async function sumCostOfInstance(
  queries: Queries,
  { instance, sinceMs, untilMs }: { instance: string; sinceMs: number; untilMs: number },
): Promise<InstanceCost[]> {
  const rows = await queries.query(
    `SELECT key_id, project, CAST(SUM(cost_nano_usd) AS BIGINT) AS cost FROM receipts
     WHERE id >= ? AND instance = ? AND created_at_ms >= ? AND created_at_ms < ? GROUP BY key_id, project`,
    [firstIdOf(sinceMs), instance, sinceMs, untilMs],
    REPORT_MS,
  );
  return rows.map((row) => ({
    keyId: text(row, "key_id"),
    project: text(row, "project"),
    costNanoUsd: number(row, "cost"),
  }));
}

interface KeyCost {
  project: string;
  keyId: string;
  day: number;
  month: number;
  total: number;
}

/**
 * The spending of every key in every project since the two times, and in total, including receipts that are deleted.
 */
export async function sumCostByKey(storage: Storage, dayStartMs: number, monthStartMs: number): Promise<KeyCost[]> {
  const unsummed = mayBeUnsummed(storage.engine)
    ? `UNION ALL SELECT project, key_id, created_at_ms / ${DAY_MS}, cost_nano_usd FROM receipts WHERE ${NOT_ROLLED_UP}`
    : "";
  const rows = await storage.query(
    `SELECT project, key_id,
       CAST(SUM(CASE WHEN day >= ? THEN cost_nano_usd ELSE 0 END) AS BIGINT) AS day_cost,
       CAST(SUM(CASE WHEN day >= ? THEN cost_nano_usd ELSE 0 END) AS BIGINT) AS month_cost,
       CAST(SUM(cost_nano_usd) AS BIGINT) AS total_cost
     FROM (SELECT project, key_id, day, cost_nano_usd FROM usage_days ${unsummed}) AS days
     GROUP BY project, key_id`,
    [dayStartMs / DAY_MS, monthStartMs / DAY_MS],
    START_SUMS_MS,
  );
  return rows.map((row) => ({
    project: text(row, "project"),
    keyId: text(row, "key_id"),
    day: number(row, "day_cost"),
    month: number(row, "month_cost"),
    total: number(row, "total_cost"),
  }));
}
