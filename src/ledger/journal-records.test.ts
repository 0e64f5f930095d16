import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { sampleReceipt } from "../storage/receipts/receipt.sample.ts";
import { encodeRecord, readRecords } from "./journal-records.ts";

const receipts = Array.from({ length: 5 }, (_, at) => sampleReceipt({ id: `rcp_${at}`, model: `größe/${at}\n"{}` }));
const records = receipts.map(encodeRecord);
const journal = Buffer.concat(records);
const idsIn = (bytes: Buffer) => readRecords(bytes, true).receipts.map(({ id }) => id);

describe("H21: records of the journal", () => {
  test("come back as they were written", () => {
    expect(readRecords(journal, true)).toEqual({
      receipts: JSON.parse(JSON.stringify(receipts)),
      damaged: [],
      used: journal.length,
    });
    expect(readRecords(Buffer.alloc(0), true)).toEqual({ receipts: [], damaged: [], used: 0 });
  });

  test("a journal that is cut anywhere keeps every record before the cut", () => {
    const ends = records.map((_, at) => Buffer.concat(records.slice(0, at + 1)).length);
    for (let length = 0; length <= journal.length; length++) {
      // The line feed may be missing, and then so is everything after it.
      const whole = ends.filter((end) => end - 1 <= length).length;
      expect([length, idsIn(journal.subarray(0, length))]).toEqual([
        length,
        receipts.slice(0, whole).map(({ id }) => id),
      ]);
    }
  });

  test("the result does not depend on the size of the chunks it is read in", () => {
    for (let size = 1; size <= journal.length; size++) {
      const found: string[] = [];
      let rest = Buffer.alloc(0);
      for (let at = 0; at < journal.length; at += size) {
        const part = Buffer.concat([rest, journal.subarray(at, at + size)]);
        const read = readRecords(part, at + size >= journal.length);
        expect(read.damaged).toEqual([]);
        found.push(...read.receipts.map(({ id }) => id));
        rest = part.subarray(read.used);
      }
      expect([size, found]).toEqual([size, receipts.map(({ id }) => id)]);
    }
  });

  test("one wrong bit damages at most one record, whose position is reported", () => {
    for (let bit = 0; bit < journal.length * 8; bit++) {
      const bytes = Buffer.from(journal);
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const { receipts: found, damaged } = readRecords(bytes, true);
      expect(found.length).toBeGreaterThanOrEqual(receipts.length - 1);
      for (const receipt of found) expect(receipts.map(({ id }) => id)).toContain(receipt.id);
      if (found.length < receipts.length) expect(damaged).toHaveLength(1);
    }
  });

  test("whatever bytes are between two records, both are found, and the bytes are reported", () => {
    fc.assert(
      fc.property(fc.uint8Array({ min: 1, minLength: 1, maxLength: 40 }), (garbage) => {
        const [first = Buffer.alloc(0), second = Buffer.alloc(0)] = records;
        const between = Buffer.concat([garbage, Buffer.from("\n")]);
        const { receipts: found, damaged } = readRecords(Buffer.concat([first, between, second]), true);
        expect(found.map(({ id }) => id)).toEqual(["rcp_0", "rcp_1"]);
        expect(damaged).toEqual([{ offset: first.length, length: between.length }]);
      }),
    );
  });

  test("zeros are room that is not used yet, wherever they are and whatever was written before them", () => {
    const room = Buffer.alloc(10_000);
    const [first = room, second = room] = records;
    expect(readRecords(room, true)).toEqual({ receipts: [], damaged: [], used: room.length });
    const whole = Buffer.concat([first, room, second, room]);
    expect(idsIn(whole)).toEqual(["rcp_0", "rcp_1"]);
    expect(readRecords(whole, true).damaged).toEqual([]);
    // A process was killed while it wrote the first one, and the second was written after it.
    for (let length = 1; length < first.length - 1; length++) {
      const cut = Buffer.concat([first.subarray(0, length), room, second, room]);
      expect([length, readRecords(cut, true).damaged]).toEqual([length, [{ offset: 0, length }]]);
      expect(idsIn(cut)).toEqual(["rcp_1"]);
    }
    for (const size of [1, 7, 9, 4_096]) {
      const found: string[] = [];
      let rest = Buffer.alloc(0);
      for (let at = 0; at < whole.length; at += size) {
        const part = Buffer.concat([rest, whole.subarray(at, at + size)]);
        const read = readRecords(part, at + size >= whole.length);
        expect(read.damaged).toEqual([]);
        found.push(...read.receipts.map(({ id }) => id));
        rest = part.subarray(read.used);
      }
      expect([size, found]).toEqual([size, ["rcp_0", "rcp_1"]]);
    }
  });
});
