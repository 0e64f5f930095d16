import type { Clock } from "../base/clock.ts";
import { rollUpBehind } from "../ledger/roll-up-before.ts";
import type { Log } from "../observe/log.ts";
import type { Storage } from "../storage/storage.ts";

const EVERY_MS = 2_000;

/** Sums receipts up some seconds after they are written. PostgreSQL does so by itself. */
export function rollUpRegularly({ storage, clock, log }: { storage: Storage; clock: Clock; log: Log }): () => void {
  if (storage.engine === "postgres") return () => {};
  let isRunning = false;
  let isStopping = false;
  const run = async () => {
    if (isRunning) return;
    isRunning = true;
    try {
      await rollUpBehind(storage, clock.wallMs(), () => isStopping);
    } catch (err) {
      log.error({ err }, "failed to roll up receipts; will retry later");
    }
    isRunning = false;
  };
  const cancel = clock.every(EVERY_MS, () => void run());
  return () => {
    isStopping = true;
    cancel();
  };
}
