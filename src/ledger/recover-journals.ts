import { type FileHandle, open, readdir, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Storage } from "../storage/storage.ts";
import { insertRows } from "./insert-rows.ts";
import { ABANDONED_MS, JOURNAL_SUFFIX } from "./journal.ts";
import { type DamagedBytes, MAX_RECORD_BYTES, readRecords } from "./journal-records.ts";

const ROWS_AT_ONCE = 256;

interface Recovery {
  storage: Storage;
  folder: string;
  /** The journal of this process, which is not left to others. */
  own?: string;
  nowMs: number;
}

export interface RecoveredJournals {
  /** Rows that were found; those that the store had already are among them. */
  rows: number;
  /** Journals with bytes that are no receipt. They are kept under another name. */
  damaged: { path: string; places: DamagedBytes[] }[];
}

/**
 * Brings the rows of other processes' journals into the store. A row that is there already is left as it is, so that it does no
 * harm if a process whose journal this is still lives; only a journal that was left is removed.
 */
export async function recoverJournals({ storage, folder, own, nowMs }: Recovery): Promise<RecoveredJournals> {
  const recovered: RecoveredJournals = { rows: 0, damaged: [] };
  for (const name of await journalsIn(folder)) {
    const path = join(folder, name);
    if (name === (own && basename(own))) continue;
    const file = await open(path, "r").catch(() => undefined);
    // Another process was faster.
    if (file === undefined) continue;
    try {
      const { rows, places } = await recoverOne(file, storage);
      recovered.rows += rows;
      const isAbandoned = nowMs - (await file.stat()).mtimeMs > ABANDONED_MS;
      if (!isAbandoned) continue;
      if (places.length === 0) await rm(path, { force: true });
      else {
        const kept = `${path}.damaged`;
        await rename(path, kept);
        recovered.damaged.push({ path: kept, places });
      }
    } finally {
      await file.close();
    }
  }
  return recovered;
}

async function journalsIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => name.endsWith(JOURNAL_SUFFIX)).sort();
}

/** In parts, so that a large journal takes little memory. */
async function recoverOne(file: FileHandle, storage: Storage): Promise<{ rows: number; places: DamagedBytes[] }> {
  const part = Buffer.alloc(2 * MAX_RECORD_BYTES);
  const places: DamagedBytes[] = [];
  let rows = 0;
  let kept = 0;
  let offset = 0;
  for (;;) {
    const { bytesRead } = await file.read(part, kept, part.length - kept, offset + kept);
    const isLast = bytesRead === 0;
    const { receipts, damaged, used } = readRecords(part.subarray(0, kept + bytesRead), isLast);
    for (let at = 0; at < receipts.length; at += ROWS_AT_ONCE) {
      await insertRows(storage, receipts.slice(at, at + ROWS_AT_ONCE));
    }
    rows += receipts.length;
    places.push(...damaged.map((place) => ({ ...place, offset: offset + place.offset })));
    if (isLast) return { rows, places };
    part.copyWithin(0, used, kept + bytesRead);
    kept = kept + bytesRead - used;
    offset += used;
  }
}
