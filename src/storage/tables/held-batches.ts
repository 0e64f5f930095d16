import type { Queries } from "../storage.ts";
import { writeSetting } from "./settings.ts";

const BEFORE = "batches_held_before_ms";

/**
 * Whether a batch waits for an operator. It was created before its database was restored from a copy, so that lines which the copy
 * takes for waiting may have been sent since.
 */
export const isHeld = (objects: string): string =>
  `(${objects}.state <> 'cancelling' AND ${objects}.created_at_ms < COALESCE((SELECT CAST(value AS BIGINT) FROM settings WHERE name = '${BEFORE}'), 0))`;

export const holdBatches = (queries: Queries, createdBeforeMs: number): Promise<void> =>
  writeSetting(queries, BEFORE, String(Math.floor(createdBeforeMs)));

/** Returns whether any were held. */
export async function releaseHeldBatches(queries: Queries): Promise<boolean> {
  return (await queries.query(`DELETE FROM settings WHERE name = '${BEFORE}' RETURNING name`)).length > 0;
}
