import { USAGE_COUNTERS } from "../canon/usage.ts";
import { USAGE_COLUMNS } from "./receipt-columns.ts";

/** What sums of hours and of days are told apart by. */
export const DIMENSIONS = ["project", "key_id", "model", "provider", "dialect", "outcome"];
/** Sums that are never NULL. */
export const AMOUNTS = ["calls", "cost_nano_usd", "total_ms", "first_contents", "first_content_ms"];
/** What no receipt has counted stays NULL. */
export const COUNTERS = USAGE_COUNTERS.map((counter) => USAGE_COLUMNS[counter]);

const OF_RECEIPT: Readonly<Record<string, string>> = {
  dialect: "client_dialect",
  calls: "CASE WHEN adjusts IS NULL THEN 1 ELSE 0 END",
  first_contents: "CASE WHEN first_content_ms IS NULL THEN 0 ELSE 1 END",
  first_content_ms: "COALESCE(first_content_ms, 0)",
};

/** What a receipt has for a column of the sums. */
export const ofReceipt = (name: string): string => OF_RECEIPT[name] ?? name;

/** Holds for receipts that are in no sum yet: in SQLite those of the last seconds, in PostgreSQL none. */
export const NOT_ROLLED_UP = "id >= (SELECT until_id FROM rolled_up)";
