import { RECEIPT_PREFIX, timePrefix } from "../base/timed-id.ts";
import type { Usage } from "../canon/usage.ts";
import { USAGE_COUNTERS } from "../canon/usage.ts";
import { number, text } from "./columns.ts";
import { readUsage, USAGE_COLUMNS } from "./receipt-columns.ts";
import { type Parameter, type Queries, REPORT_MS, START_MS } from "./storage.ts";

export type UsageGroup = "model" | "key" | "day" | "provider" | "project";

interface UsageQuestion {
  project?: string;
  keyId?: string;
  sinceMs: number;
  /** Not included. */
  untilMs: number;
  groupBy: UsageGroup;
  /** At most this many groups, the dearest first; days in their order. */
  limit: number;
}

export interface UsageSum {
  /** The model, key id, provider or project; for days the number of days since 1970. */
  group: string;
  calls: number;
  /** Calls that ended in an error; a client that disconnected is not an error. */
  failures: number;
  usage: Usage;
  costNanoUsd: number;
}

/** Both engines divide integers to integers. */
const GROUP_EXPRESSION: Readonly<Record<UsageGroup, string>> = {
  model: "model",
  key: "key_id",
  day: "created_at_ms / 86400000",
  provider: "provider",
  project: "project",
};

// A sum of BIGINT is NUMERIC in PostgreSQL; seconds are the one counter with a fraction.
const COUNTER_SUMS = USAGE_COUNTERS.map((counter) => {
  const column = USAGE_COLUMNS[counter];
  return counter === "seconds" ? `SUM(${column}) AS ${column}` : `CAST(SUM(${column}) AS BIGINT) AS ${column}`;
}).join(", ");

/** No receipt of that time or later has a smaller id, which is of the millisecond begun and not rounded: with it, a query about days does not read years. */
export const firstIdOf = (sinceMs: number): string => RECEIPT_PREFIX + timePrefix(Math.max(0, sinceMs - 1));

export async function sumUsage(queries: Queries, question: UsageQuestion): Promise<UsageSum[]> {
  const conditions = ["id >= ?", "created_at_ms >= ?", "created_at_ms < ?"];
  const parameters: Parameter[] = [firstIdOf(question.sinceMs), question.sinceMs, question.untilMs];
  if (question.project !== undefined) {
    conditions.push("project = ?");
    parameters.push(question.project);
  }
  if (question.keyId !== undefined) {
    conditions.push("key_id = ?");
    parameters.push(question.keyId);
  }
  const group = GROUP_EXPRESSION[question.groupBy];
  const order = question.groupBy === "day" ? "1" : "cost_nano_usd DESC, calls DESC, 1";
  const rows = await queries.query(
    `SELECT ${group} AS group_name, COUNT(*) AS calls,
       CAST(SUM(CASE WHEN outcome IN ('ok', 'client_gone') THEN 0 ELSE 1 END) AS BIGINT) AS failures,
       CAST(SUM(cost_nano_usd) AS BIGINT) AS cost_nano_usd, ${COUNTER_SUMS}
     FROM receipts WHERE ${conditions.join(" AND ")} GROUP BY 1 ORDER BY ${order} LIMIT ?`,
    [...parameters, question.limit],
    REPORT_MS,
  );
  return rows.map((row) => ({
    group: text(row, "group_name"),
    calls: number(row, "calls"),
    failures: number(row, "failures"),
    usage: readUsage(row),
    costNanoUsd: number(row, "cost_nano_usd"),
  }));
}

interface InstanceCost {
  keyId: string;
  project: string;
  costNanoUsd: number;
}

/** What one process has booked for each key, of calls that began in the range. */
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

/** What every key has spent in every project since the two times, and in total. */
export async function sumCostByKey(queries: Queries, dayStartMs: number, monthStartMs: number): Promise<KeyCost[]> {
  const rows = await queries.query(
    `SELECT project, key_id,
       CAST(SUM(CASE WHEN created_at_ms >= ? THEN cost_nano_usd ELSE 0 END) AS BIGINT) AS day_cost,
       CAST(SUM(CASE WHEN created_at_ms >= ? THEN cost_nano_usd ELSE 0 END) AS BIGINT) AS month_cost,
       CAST(SUM(cost_nano_usd) AS BIGINT) AS total_cost
     FROM receipts GROUP BY project, key_id`,
    [dayStartMs, monthStartMs],
    START_MS,
  );
  return rows.map((row) => ({
    project: text(row, "project"),
    keyId: text(row, "key_id"),
    day: number(row, "day_cost"),
    month: number(row, "month_cost"),
    total: number(row, "total_cost"),
  }));
}
