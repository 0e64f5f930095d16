import { number, text } from "../columns.ts";
import { START_SUMS_MS, type Storage } from "../storage.ts";
import { mayBeUnsummed, NOT_ROLLED_UP } from "./roll-up-columns.ts";

const DAY_MS = 86_400_000;

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
