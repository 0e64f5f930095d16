import { describe, expect, test } from "bun:test";
import { BytePattern } from "./byte-pattern.ts";
import { viewedBytes } from "./viewed-bytes.ts";

const read = (text: string) => viewedBytes(new TextEncoder().encode(text));

describe("bytes with a view", () => {
  test("a small read shows its own bytes, and none that an earlier one has left", () => {
    const twice = new BytePattern("data: a\n\ndata: a\n\n");
    expect(twice.isAt(read("data: a\n\ndata: a\n\n").view, 0)).toBe(true);
    const { bytes, view } = read("data: a\n\n");
    expect(bytes.toString("utf8", 0, 9)).toBe("data: a\n\n");
    expect(twice.isAt(view, 0)).toBe(false);
    expect(new BytePattern("data: a\n\n").isAt(view, 9)).toBe(false);
    expect(new BytePattern("data: a\n\n").isAt(view, 0)).toBe(true);
  });

  test("a large one is not copied, and shows nothing else of its memory", () => {
    const memory = new TextEncoder().encode("x".repeat(20_000));
    const { bytes, view } = viewedBytes(memory.subarray(100, 9_100));
    expect([bytes.buffer, bytes.length, view.byteLength]).toEqual([memory.buffer, 9_000, 9_000]);
    expect([bytes.byteOffset, view.byteOffset]).toEqual([100, 100]);
  });
});
