import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { BufferPool, ByteBuffer } from "./byte-buffer.ts";

describe("a buffer", () => {
  test("keeps its content in order, however often it has to grow", () => {
    const chunks = fc.array(
      fc.oneof(fc.string({ unit: "binary", maxLength: 3000 }), fc.uint8Array({ maxLength: 3000 })),
    );
    fc.assert(
      fc.property(fc.array(chunks, { maxLength: 3 }), (rounds) => {
        const buffer = new ByteBuffer();
        for (const round of rounds) {
          buffer.clear();
          for (const chunk of round) {
            if (typeof chunk === "string") buffer.putText(chunk);
            else buffer.putBytes(chunk);
          }
          const wanted = Buffer.concat(round.map((chunk) => Buffer.from(chunk as string)));
          expect(buffer.view().equals(wanted)).toBe(true);
        }
      }),
    );
  });

  test("a part of other bytes", () => {
    const buffer = new ByteBuffer();
    buffer.putText("ab");
    buffer.reserve(3);
    buffer.putPart(Buffer.from("0123456"), 2, 5);
    expect(buffer.view().toString()).toBe("ab234");
  });

  test("dropping bytes makes space for more", () => {
    const buffer = new ByteBuffer();
    buffer.putText("0123456789");
    buffer.drop(4);
    buffer.putText("ab");
    expect(buffer.view().toString()).toBe("456789ab");
    buffer.drop(8);
    expect(buffer.length).toBe(0);
  });

  test("one that had to hold an image is not kept", () => {
    const buffer = new ByteBuffer();
    buffer.putBytes(new Uint8Array(3 * 1024 * 1024));
    buffer.clear();
    expect(buffer.bytes.length).toBeLessThan(64 * 1024);
  });

  test("buffers of a pool are empty when they are taken again, and no two users have the same", () => {
    const pool = new BufferPool();
    const first = pool.take();
    const second = pool.take();
    expect(first).not.toBe(second);
    first.putText("left over");
    pool.giveBack(first);
    const again = pool.take();
    expect(again).toBe(first);
    expect(again.length).toBe(0);
  });
});

test("a number is written in decimal digits", () => {
  const buffer = new ByteBuffer();
  for (const value of [0, 9, 10, 99, 100, 12_345, Number.MAX_SAFE_INTEGER]) {
    buffer.clear();
    buffer.putNumber(value);
    expect(buffer.view().toString()).toBe(String(value));
  }
});
