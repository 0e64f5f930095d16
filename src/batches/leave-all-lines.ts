import type { Storage } from "../storage/storage.ts";
import { type LeftState, leaveSomeLines } from "../storage/tables/native-batches.ts";
import type { LinePace } from "./line-pace.ts";

const ROWS_AT_ONCE = 100;

/**
 * Ends all lines that the provider has not run, or returns them to the queue. In steps, because a statement about a hundred thousand
 * rows would block the event loop.
 */
export async function leaveAllLines(
  { storage, pace }: { storage: Storage; pace: Pick<LinePace, "rest"> },
  batchId: string,
  state: LeftState,
): Promise<void> {
  while ((await leaveSomeLines(storage, batchId, state, ROWS_AT_ONCE)) === ROWS_AT_ONCE) await pace.rest();
}
