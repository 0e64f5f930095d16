import { expect, test } from "bun:test";
import fc from "fast-check";
import { BytePattern } from "./byte-pattern.ts";

test("a pattern matches where it occurs and nowhere else", () => {
  const few = fc.uint8Array({ min: 97, max: 98, minLength: 0, maxLength: 20 });
  fc.assert(
    fc.property(few, few, fc.integer({ min: -2, max: 22 }), (bytes, wanted, at) => {
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
      const text = Buffer.from(wanted).toString("latin1");
      const found = at >= 0 && at <= bytes.length && Buffer.from(bytes).toString("latin1").startsWith(text, at);
      expect(new BytePattern(text).isAt(view, at)).toBe(found);
    }),
    { numRuns: 2000 },
  );
});
