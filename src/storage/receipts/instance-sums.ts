import { number, text } from "../columns.ts";
import { type Queries, START_SUMS_MS } from "../storage.ts";
import { firstIdOf } from "./receipt-ids.ts";
import { ofReceipt } from "./roll-up-columns.ts";
import { TOKENS_OF_ROW } from "./usage-sums.ts";

interface InstanceSumsQuestion {
  sinceMs: number;
  /** Exclusive. */
  untilMs: number;
  /** These are listed separately; all others are summed up as "". */
  instances: readonly string[];
  /** What the sums are apart for, besides keys. */
  by?: "model" | "tags" | undefined;
}

export interface InstanceSum {
  instance: string;
  keyId: string;
  project: string;
  /** The model, or the tags as JSON. */
  part: string;
  costNanoUsd: number;
  calls: number;
  tokens: number;
}

/** The spending of instances, by key, in one statement, so that no row is missed or counted twice between two. */
export async function sumCostByInstance(
  queries: Queries,
  { sinceMs, untilMs, instances, by }: InstanceSumsQuestion,
): Promise<InstanceSum[]> {
  const named = `CASE WHEN instance IN (${["NULL", ...instances.map(() => "?")].join(", ")}) THEN instance ELSE '' END`;
  const rows = await queries.query(
    `SELECT writer, key_id, project, part, CAST(SUM(cost_nano_usd) AS BIGINT) AS cost, CAST(SUM(calls) AS BIGINT) AS calls,
       CAST(SUM(tokens) AS BIGINT) AS tokens
     FROM (SELECT ${named} AS writer, key_id, project, ${by === undefined ? "''" : `COALESCE(${by}, '')`} AS part, cost_nano_usd,
             ${ofReceipt("calls")} AS calls, ${TOKENS_OF_ROW} AS tokens FROM receipts
           WHERE id >= ? AND created_at_ms >= ? AND created_at_ms < ?) AS written
     GROUP BY writer, key_id, project, part`,
    [...instances, firstIdOf(sinceMs), sinceMs, untilMs],
    START_SUMS_MS,
  );
  return rows.map((row) => ({
    instance: text(row, "writer"),
    keyId: text(row, "key_id"),
    project: text(row, "project"),
    part: text(row, "part"),
    costNanoUsd: number(row, "cost"),
    calls: number(row, "calls"),
    tokens: number(row, "tokens"),
  }));
}
