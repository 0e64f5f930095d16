import { type FileHandle, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Receipt } from "../canon/receipt.ts";
import { type DamagedBytes, MAX_RECORD_BYTES, readRecords } from "./journal-records.ts";

export const JOURNAL_SUFFIX = ".journal";

/** The names of the journals in a folder. */
export async function journalsIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => name.endsWith(JOURNAL_SUFFIX)).sort();
}

interface JournalPart {
  receipts: readonly Receipt[];
  damaged: readonly DamagedBytes[];
}

/** In chunks, so that a large journal takes little memory. */
export async function* partsOf(file: FileHandle): AsyncGenerator<JournalPart> {
  const part = Buffer.alloc(2 * MAX_RECORD_BYTES);
  let kept = 0;
  let offset = 0;
  for (;;) {
    const { bytesRead } = await file.read(part, kept, part.length - kept, offset + kept);
    const isLast = bytesRead === 0;
    const { receipts, damaged, used } = readRecords(part.subarray(0, kept + bytesRead), isLast);
    const from = offset;
    yield { receipts, damaged: damaged.map((place) => ({ ...place, offset: from + place.offset })) };
    if (isLast) return;
    part.copyWithin(0, used, kept + bytesRead);
    kept = kept + bytesRead - used;
    offset += used;
  }
}

/** A receipt that another process has journaled. */
export async function findInJournals(folder: string, own: string, id: string): Promise<Receipt | undefined> {
  for (const name of await journalsIn(folder)) {
    const file = name === own ? undefined : await open(join(folder, name), "r").catch(() => undefined);
    if (file === undefined) continue;
    try {
      for await (const { receipts } of partsOf(file)) {
        const found = receipts.find((receipt) => receipt.id === id);
        if (found !== undefined) return found;
      }
    } finally {
      await file.close();
    }
  }
  return undefined;
}
