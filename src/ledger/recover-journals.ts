import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Receipt } from "../canon/receipt.ts";
import { isRefusal } from "../storage/is-refusal.ts";
import type { Storage } from "../storage/storage.ts";
import { insertRows } from "./insert-rows.ts";
import type { DamagedBytes } from "./journal-records.ts";
import type { IsLeft } from "./left-journals.ts";
import { journalsIn, partsOf } from "./read-journals.ts";
import { receiptsKeptSince } from "./retention.ts";

const ROWS_AT_ONCE = 256;

interface Recovery {
  storage: Storage;
  folder: string;
  /** The journal of this process, which is skipped. */
  own?: string;
  isLeft: IsLeft;
  /** Whether no process uses a journal without content. A process that does makes it anew. */
  isUnused?: IsLeft;
}

export interface RecoveredJournals {
  /** Rows that were found, including those already in the store. */
  rows: number;
  /** Journals that could not be stored completely. They are kept under another name. */
  damaged: DamagedJournal[];
}

interface DamagedJournal {
  path: string;
  /** Bytes that are not a receipt. */
  places: DamagedBytes[];
  /** Receipts that the store rejects permanently. */
  refused: string[];
  /** Receipts older than the retention: their sums may already have been counted. */
  expired: string[];
}

/**
 * Copies the rows of other processes' journals to the store. Rows that are already there are left alone, so it is safe
 * if the owner of a journal is still alive; only abandoned journals are removed.
 */
export async function recoverJournals({
  storage,
  folder,
  own,
  isLeft,
  isUnused = isLeft,
}: Recovery): Promise<RecoveredJournals> {
  const recovered: RecoveredJournals = { rows: 0, damaged: [] };
  const keptSinceMs = await receiptsKeptSince(storage);
  for (const name of await journalsIn(folder)) {
    const path = join(folder, name);
    if (name === (own && basename(own))) continue;
    const file = await open(path, "r").catch(() => undefined);
    // Another process was faster.
    if (file === undefined) continue;
    try {
      // Before reading: a later change shows that the process is alive.
      const { mtimeMs, size } = await file.stat();
      const found = await recoverOne(file, storage, keptSinceMs);
      const { places, refused, expired } = found;
      recovered.rows += found.rows;
      const after = await file.stat();
      const isWhole = places.length + refused.length + expired.length === 0;
      const isOver = isWhole && found.rows === 0 ? isUnused : isLeft;
      if (after.mtimeMs !== mtimeMs || after.size !== size || !isOver({ path, mtimeMs, size })) continue;
      if (isWhole) await rm(path, { force: true });
      else {
        const kept = `${path}.damaged`;
        await rename(path, kept);
        recovered.damaged.push({ path: kept, places, refused, expired });
      }
    } finally {
      await file.close();
    }
  }
  return recovered;
}

type Found = Omit<DamagedJournal, "path"> & { rows: number };

async function recoverOne(file: FileHandle, storage: Storage, keptSinceMs: number): Promise<Found> {
  const found: Found = { rows: 0, places: [], refused: [], expired: [] };
  for await (const { receipts, damaged } of partsOf(file)) {
    const isExpired = ({ createdAtMs }: Receipt) => createdAtMs < keptSinceMs;
    found.expired.push(...receipts.filter(isExpired).map(({ id }) => id));
    const fresh = receipts.filter((receipt) => !isExpired(receipt));
    for (let at = 0; at < fresh.length; at += ROWS_AT_ONCE) {
      found.refused.push(...(await insertOrRefuse(storage, fresh.slice(at, at + ROWS_AT_ONCE))));
    }
    found.rows += fresh.length;
    found.places.push(...damaged);
  }
  return { ...found, rows: found.rows - found.refused.length };
}

/**
 * A row that the store rejects must not block the others, or the start of the gateway. Returns the ids of rejected
 * rows.
 */
async function insertOrRefuse(storage: Storage, receipts: readonly Receipt[]): Promise<string[]> {
  try {
    await insertRows(storage, receipts);
    return [];
  } catch (thrown) {
    if (!isRefusal(thrown)) throw thrown;
    const [only] = receipts;
    if (receipts.length === 1 && only !== undefined) return [only.id];
  }
  const refused: string[] = [];
  for (const receipt of receipts) refused.push(...(await insertOrRefuse(storage, [receipt])));
  return refused;
}
