import type { Clock } from "../base/clock.ts";
import type { Config } from "../config/config.ts";
import { deleteOldReceipts } from "../ledger/retention.ts";
import type { Log } from "../observe/log.ts";
import type { Storage } from "../storage/storage.ts";

const EVERY_MS = 600_000;

/** Deletes receipts that are older than the configuration keeps them, now and every ten minutes. */
export function deleteOldReceiptsRegularly(
  { retentionDays }: Config["ledger"],
  { storage, clock, log }: { storage: Storage; clock: Clock; log: Log },
): () => void {
  if (retentionDays === undefined) return () => {};
  let isStopping = false;
  let isRunning = false;
  const run = async () => {
    if (isRunning) return;
    isRunning = true;
    try {
      const deleted = await deleteOldReceipts({ storage, clock, retentionDays, isStopping: () => isStopping });
      if (deleted > 0) log.info({ receipts: deleted }, "deleted old receipts; their totals are kept");
    } catch (err) {
      log.error({ err }, "failed to delete old receipts");
    }
    isRunning = false;
  };
  void run();
  const cancel = clock.every(EVERY_MS, () => void run());
  return () => {
    isStopping = true;
    cancel();
  };
}
