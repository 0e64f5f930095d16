import { expect, test } from "bun:test";
import type { ByteRange } from "../files/file-store.ts";
import type { ObjectContent } from "../objects/object-content.ts";
import { InputReader } from "./input-reader.ts";

/** An input of numbered lines, and the ranges that were read of it. */
function inputOf(lineBytes: number, lines: number) {
  const bytes = Buffer.from(
    Array.from({ length: lines }, (_, index) => `${String(index).padEnd(lineBytes - 1, ".")}\n`).join(""),
  );
  const reads: ByteRange[] = [];
  const content = {
    open: async (id: string, range: ByteRange) => {
      if (id === "gone") return undefined;
      reads.push(range);
      if (id === "broken" && reads.length === 1) throw new Error("the disk does not respond");
      return new Blob([bytes.subarray(range.start, range.end)]).stream();
    },
  } as unknown as ObjectContent;
  return { reader: new InputReader(content), reads };
}

test("one read is enough for many lines, also if they are read at once", async () => {
  const { reader, reads } = inputOf(1_000, 600);
  const read = (line: number) => reader.read("a", line * 1_000, 999);
  const some = await Promise.all([0, 1, 2, 3].map(read));
  expect(some.map((text) => text?.replaceAll(".", ""))).toEqual(["0", "1", "2", "3"]);
  for (let line = 4; line < 600; line++) expect((await read(line))?.startsWith(String(line))).toBe(true);
  expect(reads.length).toBeLessThanOrEqual(3);
});

test("a line that is longer than what is read at once is read alone", async () => {
  const { reader, reads } = inputOf(400_000, 2);
  expect(await reader.read("a", 0, 399_999)).toHaveLength(399_999);
  expect(await reader.read("a", 400_000, 5)).toBe("1....");
  expect(reads.map(({ start }) => start)).toEqual([0, 400_000]);
});

test("a read that failed is repeated, and an input that is gone is reported", async () => {
  const { reader } = inputOf(10, 2);
  expect(await reader.read("broken", 0, 9).catch((error: Error) => error.message)).toBe("the disk does not respond");
  expect(await reader.read("broken", 0, 9)).toBe("0........");
  expect(await reader.read("gone", 0, 9)).toBeUndefined();
});
