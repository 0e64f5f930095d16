import { existsSync, realpathSync } from "node:fs";
import { processUsing } from "../../../base/process-using.ts";
import { system } from "../../../base/system.ts";
import { GatewayError } from "../../../canon/error.ts";
import { number, text } from "../../../storage/columns.ts";
import { instances } from "../../../storage/migrations/0008-instances.ts";
import { batches } from "../../../storage/migrations/0033-batches.ts";
import { openUnchanged } from "../../../storage/open.ts";
import { sqlitePath } from "../../../storage/redact-storage-url.ts";
import { holdBatches } from "../../../storage/tables/held-batches.ts";

/** A running gateway increments its beat count more often than this. */
const BEAT_MS = 12_000;
/** Batches that a message names. */
const MAX_NAMED = 10;

/**
 * Throws if a gateway is running on the storage, whatever the version of its tables. Nothing is needed of a SQLite file: one
 * that cannot be read is reported, and may be replaced.
 */
export async function requireStopped(url: string): Promise<void> {
  const file = sqlitePath(url);
  if (file !== undefined) {
    if (!existsSync(file)) return;
    const user = processUsing(new Set([realpathSync(file)]));
    if (user !== undefined) throw isRunning(user);
  }
  let running: string | undefined;
  try {
    running = await runningPlace(url);
  } catch (thrown) {
    if (file === undefined) throw thrown;
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    console.error(`${reason} So it is not known whether a gateway elsewhere is using it.`);
  }
  if (running !== undefined) throw isRunning(running);
}

const isRunning = (place: string): GatewayError =>
  new GatewayError("invalid_request", `A gateway is running on this database (${place}). Stop it first.`);

/** The beat count of a killed gateway does not change. */
async function runningPlace(url: string): Promise<string | undefined> {
  const { storage, version } = await openUnchanged(url, system.clock);
  try {
    if (version < instances.version) return undefined;
    const rows = () => storage.query("SELECT id, place, beats FROM instances");
    const before = new Map((await rows()).map((row) => [text(row, "id"), number(row, "beats")]));
    if (before.size === 0) return undefined;
    console.error("A gateway may still be using this database. Checking for 12 seconds whether it is running …");
    await Bun.sleep(BEAT_MS);
    const running = (await rows()).find((row) => number(row, "beats") !== (before.get(text(row, "id")) ?? -1));
    return running && text(running, "place").split("\n")[0];
  } finally {
    await storage.close();
  }
}

/** Gateways that ran when a copy of the database was made do not run on it. Its batches are held: the copy does not know what they did since. */
export async function forgetInstances(url: string, nowMs: number): Promise<number> {
  const { storage, version } = await openUnchanged(url, system.clock);
  try {
    if (version >= instances.version) await storage.query("DELETE FROM instances");
    if (version < batches.version) return version;
    const open = await storage.query(
      "SELECT id FROM objects WHERE kind = 'batch' AND state IN ('validating', 'in_progress') ORDER BY id",
    );
    if (open.length > 0) {
      const ids = open.slice(0, MAX_NAMED).map((row) => text(row, "id"));
      const more = open.length > ids.length ? ` and ${open.length - ids.length} more` : "";
      await holdBatches(storage, nowMs);
      console.error(
        `Batches that were running then are held, because they may have sent lines since: ${ids.join(", ")}${more}. Cancel those that should not run again, then let the others run with \`trivium batches release\`.`,
      );
    }
    return version;
  } finally {
    await storage.close();
  }
}
