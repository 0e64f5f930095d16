import type { Clock } from "../base/clock.ts";
import type { Receipt } from "../canon/receipt.ts";
import type { ExportFormat } from "../config/export-format.ts";
import type { FileStore } from "../files/file-store.ts";
import type { ReceiptSource } from "./receipt-source.ts";
import { ThreadedEncoder } from "./threaded-encoder.ts";

/** A file ends after this many rows or bytes, and the next one begins. */
const MAX_ROWS = 250_000;
const MAX_BYTES = 128 * 1024 * 1024;
/** More than the last page can add. */
const LIMIT_BYTES = 2 * MAX_BYTES;

interface FileOptions {
  store: FileStore;
  source: ReceiptSource;
  format: ExportFormat;
  clock: Clock;
  /** Throws if the file must not be finished. */
  check: () => void;
}

/**
 * Writes the next receipts to a file, which is visible once it is complete. Receipts are read as the destination takes them, so memory
 * does not grow with their number. Returns how many there are; with none, nothing is written.
 */
export async function writeFile(name: string, { store, source, format, clock, check }: FileOptions): Promise<number> {
  const first = await source.next();
  if (first.length === 0) return 0;
  const encoder = await ThreadedEncoder.open(format, clock.wallMs(), clock);
  let rows = 0;
  async function* content(): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    for (let page: readonly Receipt[] = first; page.length > 0; page = await source.next()) {
      check();
      const chunk = await encoder.add(page);
      rows += page.length;
      bytes += chunk.length;
      if (chunk.length > 0) yield chunk;
      if (rows >= MAX_ROWS || bytes >= MAX_BYTES) break;
    }
    const rest = await encoder.end();
    check();
    if (rest.length > 0) yield rest;
  }
  try {
    await store.put(name, content(), LIMIT_BYTES);
  } finally {
    encoder.close();
  }
  return rows;
}
