import { isObject, parseObject } from "../base/json.ts";
import type { Receipt } from "../canon/receipt.ts";

/**
 * One record of a journal: the length of its JSON in bytes, the CRC-32 of the JSON, the JSON, and a line feed. If any
 * of them is damaged, the next record can still be found by the length or by the line feed, which JSON text never
 * contains.
 */
export function encodeRecord(receipt: Receipt): Buffer {
  const json = Buffer.from(JSON.stringify(receipt));
  return Buffer.concat([Buffer.from(`${json.length} ${crcOf(json)} `), json, LINE_FEED]);
}

/** Bytes of a journal that are not a record, and their position. */
export interface DamagedBytes {
  offset: number;
  length: number;
}

interface JournalContent {
  receipts: Receipt[];
  damaged: DamagedBytes[];
  /** How many bytes were read: the rest may be the beginning of a record. */
  used: number;
}

/** Every whole record in a chunk of a journal. `isLast`: nothing follows it. */
export function readRecords(journal: Buffer, isLast: boolean): JournalContent {
  const receipts: Receipt[] = [];
  const damaged: DamagedBytes[] = [];
  let at = 0;
  while (at < journal.length) {
    if (journal[at] === 0) {
      at += 1;
      continue;
    }
    const record = readRecord(journal, at, isLast);
    if (typeof record === "object") {
      receipts.push(record.receipt);
      at = record.end;
      continue;
    }
    if (record === "unfinished" && !isLast) break;
    const next = endOfDamage(journal, at);
    addDamage(damaged, at, next);
    at = next;
  }
  return { receipts, damaged, used: Math.min(at, journal.length) };
}

const LINE_FEED = Buffer.from("\n");
/** Space on the disk that the journal does not use yet. A record never contains zeros. */
const ROOM = Buffer.alloc(8);

/** It ends with its line, or where nothing was written. */
function endOfDamage(journal: Buffer, at: number): number {
  const lineFeed = journal.indexOf(LINE_FEED, at);
  const lineEnd = lineFeed < 0 ? journal.length : lineFeed + 1;
  const room = journal.subarray(at, lineEnd).indexOf(ROOM);
  return room <= 0 ? lineEnd : at + room;
}

/** The maximum length of the two numbers and their spaces. */
const MAX_HEAD = 20;
const HEAD = /^(\d{1,9}) ([0-9a-f]{8}) /;
/** No receipt is nearly as large: a larger length means damage. */
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

/** Its checksum was right, so it is what some version of the program wrote. */
const isReceipt = (value: unknown): value is Receipt =>
  isObject(value) && typeof value["id"] === "string" && typeof value["project"] === "string";

/** Adjacent lines are reported as one range. */
function addDamage(damaged: DamagedBytes[], start: number, end: number): void {
  const last = damaged.at(-1);
  if (last !== undefined && last.offset + last.length === start) last.length = end - last.offset;
  else damaged.push({ offset: start, length: end - start });
}
