import { number, text } from "../columns.ts";
import { type Queries, REPORT_MS } from "../storage.ts";
import { endIdOf, firstIdOf } from "./receipt-ids.ts";

/** How many calls of a provider had the same outcome. */
export interface OutcomeCount {
  /** The one that answered, or was tried last; empty if none was. */
  provider: string;
  outcome: string;
  calls: number;
}

/** The most rows that the query reads: the newest. */
const MAX_ROWS = 100_000;
/** A row is found by when its call began, at most this long before it ended, even if the host hung. */
const LONGEST_MS = 600_000;

/** Of the newest calls that ended in the range, without corrections. */
export async function selectOutcomeCounts(
  queries: Queries,
  { sinceMs, untilMs }: { sinceMs: number; untilMs: number },
): Promise<OutcomeCount[]> {
  const since = Math.floor(sinceMs);
  const rows = await queries.query(
    `SELECT provider, outcome, COUNT(*) AS calls
     FROM (SELECT provider, outcome, adjusts, created_at_ms, total_ms FROM receipts
       WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT ${MAX_ROWS}) AS newest
     WHERE adjusts IS NULL AND created_at_ms + total_ms >= ? GROUP BY provider, outcome ORDER BY provider, outcome`,
    [firstIdOf(since - LONGEST_MS), endIdOf(Math.ceil(untilMs)), since],
    REPORT_MS,
  );
  return rows.map((row) => ({
    provider: text(row, "provider"),
    outcome: text(row, "outcome"),
    calls: number(row, "calls"),
  }));
}
