import type { Clock } from "../base/clock.ts";
import type { Receipt } from "../canon/receipt.ts";
import type { ExportFormat } from "../config/export-format.ts";
import type { FileStore } from "../files/file-store.ts";
import type { ReceiptSource } from "./receipt-source.ts";
import { ThreadedEncoder } from "./threaded-encoder.ts";

/** A file ends after this many rows or bytes, and the next one begins. */
const MAX_ROWS = 250_000;
const MAX_BYTES = 128 * 1024 * 1024;
/** Removing them from the list of late receipts is one transaction, which others wait for. */
const MAX_LATE_ROWS = 10_000;
/** How long a destination may take nothing. A part of an upload takes this long on a slow line. */
const STALL_MS = 5 * 60_000;
const LOOK_MS = 1_000;
/** More than the last page can add. */
const LIMIT_BYTES = 2 * MAX_BYTES;

interface FileOptions {
  store: FileStore;
  source: ReceiptSource;
  format: ExportFormat;
  clock: Clock;
  stallMs?: number;
  /** Throws if the file must not be finished. */
  check: () => void;
}

/**
 * Writes the next receipts to a file, which is visible once it is complete. Receipts are read as the destination takes them, so memory
 * does not grow with their number. Returns how many there are; with none, nothing is written.
 */
export async function writeFile(
  name: string,
  { store, source, format, clock, check, stallMs = STALL_MS }: FileOptions,
): Promise<number> {
  const first = await source.next();
  if (first.length === 0) return 0;
  const encoder = await ThreadedEncoder.open(format, clock.wallMs(), clock);
  let rows = 0;
  let movedAtMs = clock.nowMs();
  let hasStalled = false;
  async function* content(): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    for (let page: readonly Receipt[] = first; page.length > 0; page = await source.next()) {
      check();
      if (hasStalled) throw stalled();
      movedAtMs = clock.nowMs();
      const chunk = await encoder.add(page);
      rows += page.length;
      bytes += chunk.length;
      if (chunk.length > 0) yield chunk;
      if (rows >= MAX_ROWS || bytes >= MAX_BYTES || source.lateIds.length >= MAX_LATE_ROWS) break;
    }
    const rest = await encoder.end();
    check();
    movedAtMs = clock.nowMs();
    if (rest.length > 0) yield rest;
  }
  const { promise: stall, reject } = Promise.withResolvers<never>();
  const stopLooking = clock.every(
    LOOK_MS,
    () => {
      if (clock.nowMs() - movedAtMs <= stallMs) return;
      hasStalled = true;
      reject(stalled());
    },
    { background: true },
  );
  try {
    const put = store.put(name, content(), LIMIT_BYTES);
    // After a stall it is no longer awaited.
    put.catch(() => {});
    await Promise.race([put, stall]);
  } finally {
    stopLooking();
    encoder.close();
  }
  return rows;
}

const stalled = () => new Error("the destination accepted no data for too long");
