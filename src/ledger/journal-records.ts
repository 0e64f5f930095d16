import { isObject, parseObject } from "../base/json.ts";
import type { Receipt } from "../canon/receipt.ts";

/**
 * One record of a journal: the length of its JSON in bytes, the CRC-32 of that, the JSON and a line feed. Any of them may be damaged
 * without the next one being lost: the length finds it, or the line feed does, which JSON text never contains.
 */
export function encodeRecord(receipt: Receipt): Buffer {
  const json = Buffer.from(JSON.stringify(receipt));
  return Buffer.concat([Buffer.from(`${json.length} ${crcOf(json)} `), json, LINE_FEED]);
}

/** Bytes of a journal that are no record, and where they begin. */
export interface DamagedBytes {
  offset: number;
  length: number;
}

interface JournalContent {
  receipts: Receipt[];
  damaged: DamagedBytes[];
  /** How many bytes were read: what follows may be the beginning of a record. */
  used: number;
}

/** Everything in a part of a journal that is whole. `isLast`: nothing follows it. */
export function readRecords(journal: Buffer, isLast: boolean): JournalContent {
  const receipts: Receipt[] = [];
  const damaged: DamagedBytes[] = [];
  let at = 0;
  while (at < journal.length) {
    const record = readRecord(journal, at, isLast);
    if (typeof record === "object") {
      receipts.push(record.receipt);
      at = record.end;
      continue;
    }
    if (record === "unfinished" && !isLast) break;
    const lineEnd = journal.indexOf(LINE_FEED, at);
    const next = lineEnd < 0 ? journal.length : lineEnd + 1;
    addDamage(damaged, at, next);
    at = next;
  }
  return { receipts, damaged, used: Math.min(at, journal.length) };
}

const LINE_FEED = Buffer.from("\n");
/** As long as the two numbers and their spaces can be. */
const MAX_HEAD = 20;
const HEAD = /^(\d{1,9}) ([0-9a-f]{8}) /;
/** No receipt comes near: a larger length is a damaged one. */
export const MAX_RECORD_BYTES = 4 * 1024 * 1024;

const crcOf = (bytes: Uint8Array): string => Bun.hash.crc32(bytes).toString(16).padStart(8, "0");

function readRecord(
  journal: Buffer,
  at: number,
  isLast: boolean,
): { receipt: Receipt; end: number } | "unfinished" | "damaged" {
  const head = HEAD.exec(journal.toString("latin1", at, at + MAX_HEAD));
  if (head === null) return journal.length - at < MAX_HEAD ? "unfinished" : "damaged";
  const length = Number(head[1]);
  if (length > MAX_RECORD_BYTES) return "damaged";
  const start = at + head[0].length;
  const end = start + length;
  // The last line feed may be missing.
  if (end > journal.length || (end === journal.length && !isLast)) return "unfinished";
  const json = journal.subarray(start, end);
  if (crcOf(json) !== head[2]) return "damaged";
  const receipt = parseObject(json.toString());
  return isReceipt(receipt) ? { receipt, end: end + LINE_FEED.length } : "damaged";
}

/** Its checksum was right, so it is what was written: of whatever version of the program. */
const isReceipt = (value: unknown): value is Receipt =>
  isObject(value) && typeof value["id"] === "string" && typeof value["project"] === "string";

/** Lines that follow each other are one place. */
function addDamage(damaged: DamagedBytes[], start: number, end: number): void {
  const last = damaged.at(-1);
  if (last !== undefined && last.offset + last.length === start) last.length = end - last.offset;
  else damaged.push({ offset: start, length: end - start });
}
