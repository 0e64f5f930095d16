import type { Clock } from "../base/clock.ts";
import { forgetInstanceDays } from "../storage/receipts/instance-sums.ts";
import { deleteReceiptsBefore } from "../storage/receipts/receipts.ts";
import type { Storage } from "../storage/storage.ts";
import { deleteIntentsBefore, deleteSettledIntents } from "../storage/tables/intents.ts";
import { readSetting, writeSetting } from "../storage/tables/settings.ts";
import { rollUpBefore } from "./roll-up-before.ts";

const KEPT_SINCE = "receipts_kept_since_ms";
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const ROWS_AT_ONCE = 500;
/** Between two deletions, so that calls can write their rows. */
const PAUSE_MS = 20;

/** Receipts of earlier calls are deleted, or about to be; their roll-ups stay. 0 if none were deleted. */
export async function receiptsKeptSince(storage: Storage): Promise<number> {
  return Number((await readSetting(storage, KEPT_SINCE)) ?? 0);
}

interface RetentionOptions {
  storage: Storage;
  clock: Clock;
  retentionDays: number;
  /** Whether to stop early; the rest is deleted the next time. */
  isStopping?: () => boolean;
}

/**
 * Deletes receipts older than the retention in small batches, and returns how many. Their hours are summed up first,
 * because a sum of part of an hour would be wrong.
 */
export async function deleteOldReceipts(options: RetentionOptions): Promise<number> {
  const { storage, clock, retentionDays, isStopping = () => false } = options;
  const beforeMs = Math.floor((clock.wallMs() - retentionDays * DAY_MS) / HOUR_MS) * HOUR_MS;
  if (beforeMs <= 0) return 0;
  if (beforeMs > (await receiptsKeptSince(storage))) await writeSetting(storage, KEPT_SINCE, String(beforeMs));
  await rollUpBefore(storage, beforeMs, isStopping);
  let afterId = "";
  const step = async () => {
    const { count, lastId } = await deleteReceiptsBefore(storage, beforeMs, { afterId, limit: ROWS_AT_ONCE });
    afterId = lastId;
    return count;
  };
  const deleted = await inSteps(step, clock, isStopping);
  await forgetInstanceDays(storage);
  await inSteps(() => deleteIntentsBefore(storage, beforeMs, ROWS_AT_ONCE), clock, isStopping);
  return deleted;
}

/** Deletes settled intents in small batches. */
export function deleteSettled(storage: Storage, clock: Clock): Promise<number> {
  return inSteps(() => deleteSettledIntents(storage, ROWS_AT_ONCE), clock);
}

async function inSteps(step: () => Promise<number>, clock: Clock, isStopping = () => false): Promise<number> {
  let deleted = 0;
  while (!isStopping()) {
    const count = await step();
    deleted += count;
    if (count < ROWS_AT_ONCE) break;
    await clock.sleep(PAUSE_MS);
  }
  return deleted;
}
