import type { Migration } from "./migration.ts";

/**
 * Of a receipt: which process wrote it, so that what a dead one has spent can be told; and for a correction, which receipt it
 * corrects. NULL in rows of earlier versions, and for calls.
 */
export const writers: Migration = {
  version: 12,
  name: "writers",
  statements: ["ALTER TABLE receipts ADD COLUMN instance TEXT", "ALTER TABLE receipts ADD COLUMN adjusts TEXT"],
};
