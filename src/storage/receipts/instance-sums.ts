import { number, text } from "../columns.ts";
import { type Queries, START_SUMS_MS } from "../storage.ts";
import { firstIdOf } from "./receipt-ids.ts";

interface InstanceSumsQuestion {
  sinceMs: number;
  /** Exclusive. */
  untilMs: number;
  /** These are listed separately; all others are summed up as "". */
  instances: readonly string[];
}

export interface InstanceSum {
  instance: string;
  keyId: string;
  project: string;
  costNanoUsd: number;
}

/** The spending of instances, by key, in one statement, so that no row is missed or counted twice between two. */
export async function sumCostByInstance(
  queries: Queries,
  { sinceMs, untilMs, instances }: InstanceSumsQuestion,
): Promise<InstanceSum[]> {
  const named = `CASE WHEN instance IN (${["NULL", ...instances.map(() => "?")].join(", ")}) THEN instance ELSE '' END`;
  const rows = await queries.query(
    `SELECT writer, key_id, project, CAST(SUM(cost_nano_usd) AS BIGINT) AS cost
     FROM (SELECT ${named} AS writer, key_id, project, cost_nano_usd FROM receipts
           WHERE id >= ? AND created_at_ms >= ? AND created_at_ms < ?) AS written
     GROUP BY writer, key_id, project`,
    [...instances, firstIdOf(sinceMs), sinceMs, untilMs],
    START_SUMS_MS,
  );
  return rows.map((row) => ({
    instance: text(row, "writer"),
    keyId: text(row, "key_id"),
    project: text(row, "project"),
    costNanoUsd: number(row, "cost"),
  }));
}
