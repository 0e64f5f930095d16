import { number } from "../storage/columns.ts";
import { type Difference, differencesOfDay } from "../storage/receipts/roll-up-check.ts";
import { REPORT_MS, type Storage } from "../storage/storage.ts";
import { receiptsKeptSince } from "./retention.ts";

const DAY_MS = 86_400_000;

interface CheckedRollUps {
  days: number;
  /** At most the first hundred. */
  differences: Difference[];
}

const MAX_DIFFERENCES = 100;

/**
 * Compares the roll-ups with the receipts, day by day, and those of days with those of hours. For days whose receipts
 * are deleted, only the latter.
 */
export async function checkRollUps(storage: Storage): Promise<CheckedRollUps> {
  const firstKept = Math.ceil((await receiptsKeptSince(storage)) / DAY_MS);
  const rows = await storage.query(
    `SELECT day AS day FROM usage_days UNION SELECT hour / 24 FROM usage_hours
     UNION SELECT created_at_ms / ${DAY_MS} FROM receipts ORDER BY 1`,
    [],
    REPORT_MS,
  );
  const found: CheckedRollUps = { days: rows.length, differences: [] };
  for (const row of rows) {
    const day = number(row, "day");
    found.differences.push(...(await differencesOfDay(storage, day, day >= firstKept)));
    if (found.differences.length >= MAX_DIFFERENCES) break;
  }
  return found;
}
