import { RECEIPT_PREFIX, timePrefix } from "../../base/timed-id.ts";
import type { Receipt } from "../../canon/receipt.ts";
import { number, text } from "../columns.ts";
import { type Parameter, type Queries, REPORT_MS } from "../storage.ts";
import { RECEIPT_COLUMNS, readReceipt } from "./receipt-columns.ts";

const NAMES = RECEIPT_COLUMNS.map((column) => column.name).join(", ");

interface ReceiptRange {
  fromMs: number;
  /** Exclusive. */
  untilMs: number;
  project?: string | undefined;
  /** Only receipts after this one. */
  after?: string | undefined;
  limit: number;
}

/** Receipts of calls by id, without corrections. */
export async function selectReceiptRange(queries: Queries, range: ReceiptRange): Promise<Receipt[]> {
  const { fromMs, untilMs, project, after, limit } = range;
  const parameters: Parameter[] = [after ?? firstIdAt(fromMs), firstIdAt(untilMs + 2), fromMs, untilMs];
  if (project !== undefined) parameters.push(project);
  const rows = await queries.query(
    `SELECT ${NAMES} FROM receipts WHERE id > ? AND id < ? AND created_at_ms >= ? AND created_at_ms < ? AND adjusts IS NULL
     ${project === undefined ? "" : "AND project = ?"} ORDER BY id LIMIT ?`,
    [...parameters, limit],
    REPORT_MS,
  );
  return rows.map(readReceipt);
}

/** Receipt ids begin with their time, which is rounded in the row. */
const firstIdAt = (ms: number): string => RECEIPT_PREFIX + timePrefix(Math.max(0, ms - 1));

/** The corrections of a receipt so far. */
export interface Corrections {
  count: number;
  costNanoUsd: number;
}

/**
 * The corrections of calls in this range, by the id of the receipt. They have its time, so that the range of ids
 * includes them.
 */
export async function selectCorrections(
  queries: Queries,
  { fromMs, toMs }: { fromMs: number; toMs: number },
): Promise<Map<string, Corrections>> {
  const rows = await queries.query(
    `SELECT adjusts, COUNT(*) AS corrections, CAST(SUM(cost_nano_usd) AS BIGINT) AS cost FROM receipts
     WHERE id >= ? AND id < ? AND adjusts IS NOT NULL GROUP BY adjusts`,
    [firstIdAt(fromMs), firstIdAt(toMs + 2)],
    REPORT_MS,
  );
  return new Map(
    rows.map((row) => [text(row, "adjusts"), { count: number(row, "corrections"), costNanoUsd: number(row, "cost") }]),
  );
}
