import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Scratch, ScratchPool } from "./scratch.ts";

describe("room for bytes", () => {
  test("whatever is put into it stands there in order, however often it has to grow", () => {
    const pieces = fc.array(
      fc.oneof(fc.string({ unit: "binary", maxLength: 3000 }), fc.uint8Array({ maxLength: 3000 })),
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 3 }), (rounds) => {
        const room = new Scratch();
        for (const round of rounds) {
          room.clear();
          for (const piece of round) {
            if (typeof piece === "string") room.putText(piece);
            else room.putBytes(piece);
          }
          const wanted = Buffer.concat(round.map((piece) => Buffer.from(piece as string)));
          expect(room.taken().equals(wanted)).toBe(true);
        }
      }),
    );
  });

  test("a part of other bytes", () => {
    const room = new Scratch();
    room.putText("ab");
    room.reserve(3);
    room.putPart(Buffer.from("0123456"), 2, 5);
    expect(room.taken().toString()).toBe("ab234");
  });

  test("what is dropped makes place for the rest", () => {
    const room = new Scratch();
    room.putText("0123456789");
    room.drop(4);
    room.putText("ab");
    expect(room.taken().toString()).toBe("456789ab");
    room.drop(8);
    expect(room.length).toBe(0);
  });

  test("a room that had to hold an image is not kept", () => {
    const room = new Scratch();
    room.putBytes(new Uint8Array(3 * 1024 * 1024));
    room.clear();
    expect(room.bytes.length).toBeLessThan(64 * 1024);
  });

  test("rooms are empty when they are lent again, and no two users have the same", () => {
    const pool = new ScratchPool();
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
