import type { StoredRow } from "../src/storage/storage.ts";
import { VIDEO_NANO_USD_PER_SECOND } from "./configuration.ts";
import type { OnViolation } from "./invariants.ts";
import type { VideoBook } from "./video-host.ts";

/** What must hold for operations and their ledger rows once everything has come to rest. */
export function checkVideos(
  operations: readonly StoredRow[],
  rows: readonly StoredRow[],
  videos: ReadonlyMap<number, VideoBook>,
  onViolation: OnViolation,
): void {
  const rowOf = new Map(rows.map((row) => [String(row["id"]), row]));
  const bookOf = new Map([...videos.values()].map((book) => [book.name?.split("/operations/")[1] ?? "", book]));
  let done = 0;
  for (const operation of operations) {
    const id = String(operation["id"]);
    const row = rowOf.get(String(operation["receipt_id"]));
    const book = bookOf.get(id);
    if (operation["ended_at_ms"] === null) onViolation("every operation ends", `${id} is ${operation["state"]}`);
    else if (operation["lease_owner"] !== null) onViolation("nothing is left over", `the lease of ${id}`);
    if (operation["ended_at_ms"] !== null && row === undefined)
      onViolation("every operation is a row", `${id} has ended without one`);
    if (book?.told !== undefined && book.told !== operation["state"])
      onViolation("a client learns how its operation ended", `${id}: ${book.told}, and it is ${operation["state"]}`);
    if (operation["state"] === "done") done++;
    if (row !== undefined) checkRow(operation, row, onViolation);
  }
  if (rows.length > operations.length)
    onViolation("every operation is a row", `${rows.length} rows for ${operations.length} operations`);
  const made = [...videos.values()].reduce((sum, { plan, jobs }) => sum + (plan.fails ? 0 : jobs.length), 0);
  if (done > made) onViolation("every operation is a row", `${done} videos are billed, and hosts have made ${made}`);
}

function checkRow(operation: StoredRow, row: StoredRow, onViolation: OnViolation): void {
  const { seconds } = JSON.parse(String(operation["job"])) as { seconds: number };
  const cost = operation["state"] === "done" ? seconds * VIDEO_NANO_USD_PER_SECOND : 0;
  const told = `${row["outcome"]}, ${row["usage_seconds"]} s, ${row["cost_nano_usd"]} for ${String(operation["id"])}`;
  if (Number(row["cost_nano_usd"]) !== cost) onViolation("cost is exact", `${cost} expected; ${told}`);
  if ((row["outcome"] === "ok") !== (operation["state"] === "done")) onViolation("every operation is a row", told);
}
