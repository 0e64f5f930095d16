import type { Cancel, Clock } from "../base/clock.ts";
import { deleteSettled } from "../ledger/retention.ts";
import type { Log } from "../observe/log.ts";
import type { Storage } from "../storage/storage.ts";

/** Few enough wait between two times that a deletion is short. */
const EVERY_MS = 5_000;
/** Where none are written, an earlier configuration may have left some. */
const RARELY_MS = 600_000;

/** Deletes intents that have their receipt. They are in no sum and on no page meanwhile, so nothing depends on when. */
export function deleteSettledRegularly(
  { intents }: { intents: boolean },
  { storage, clock, log }: { storage: Storage; clock: Clock; log: Log },
): Cancel {
  let isRunning = false;
  const run = async () => {
    if (isRunning) return;
    isRunning = true;
    await deleteSettled(storage, clock).catch((err: unknown) => log.error({ err }, "failed to delete settled intents"));
    isRunning = false;
  };
  return clock.every(intents ? EVERY_MS : RARELY_MS, () => void run(), { background: true });
}
