import { USAGE_COUNTERS } from "../../canon/usage.ts";
import type { Storage } from "../storage.ts";
import { USAGE_COLUMNS } from "./receipt-columns.ts";

/** The dimensions of the sums of hours and days. */
export const DIMENSIONS = ["project", "key_id", "model", "provider", "dialect", "outcome"];
/** The same for the sums by tag. */
export const TAG_DIMENSIONS = ["tag", ...DIMENSIONS];
/** Sums that are never NULL. */
export const AMOUNTS = ["calls", "cost_nano_usd", "total_ms", "first_contents", "first_content_ms"];
/** Counters that no receipt has stay NULL. */
export const COUNTERS = USAGE_COUNTERS.map((counter) => USAGE_COLUMNS[counter]);

const OF_RECEIPT: Readonly<Record<string, string>> = {
  dialect: "client_dialect",
  calls: "CASE WHEN adjusts IS NULL THEN 1 ELSE 0 END",
  first_contents: "CASE WHEN first_content_ms IS NULL THEN 0 ELSE 1 END",
  first_content_ms: "COALESCE(first_content_ms, 0)",
};

/** The expression over a receipt for a column of the sums. */
export const ofReceipt = (name: string): string => OF_RECEIPT[name] ?? name;

/** Matches receipts that no sum includes yet: in SQLite those of the last seconds, in PostgreSQL none. */
export const NOT_ROLLED_UP = "receipts.id >= (SELECT until_id FROM rolled_up)";

/**
 * Whether there may be such receipts. If not, no statement may query them: PostgreSQL does not know that in advance,
 * and plans for reading a third of the table with parallel workers.
 */
export const mayBeUnsummed = (engine: Storage["engine"]): boolean => engine === "sqlite";

/** Joined to a table: its rows once for each of their tags, which is `tagged.tag`. */
export const withTags = (engine: Storage["engine"], table = "receipts"): string =>
  engine === "postgres"
    ? `CROSS JOIN LATERAL json_array_elements_text(CAST(NULLIF(${table}.tags, '') AS JSON)) AS tagged (tag)`
    : `CROSS JOIN json_each(NULLIF(${table}.tags, '')) AS tagged`;

/** The tag of such a row. */
export const tagOf = (engine: Storage["engine"]): string => (engine === "postgres" ? "tagged.tag" : "tagged.value");
