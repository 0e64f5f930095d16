import { describe, expect, test } from "bun:test";
import { system } from "../base/system.ts";
import { Sealer, UnreadableSeal } from "./sealer.ts";

const sealer = new Sealer(new Uint8Array(32).fill(1), system.random);

describe("sealed texts", () => {
  test.each(["", "short", "漢字 🙂 \\ud800", "long ".repeat(100_000)])("are opened unchanged", async (text) => {
    expect(await sealer.open(await sealer.seal(text, "place"), "place")).toBe(text);
  });

  test("are small, and never the same twice", async () => {
    const text = "the same words again, ".repeat(10_000);
    const [one, two] = [await sealer.seal(text, "place"), await sealer.seal(text, "place")];
    expect(one.length).toBeLessThan(text.length / 20);
    expect(one).not.toEqual(two);
  });

  test("open only with their key, at their place and unmodified", async () => {
    const sealed = await sealer.seal("words", "place");
    await expect(sealer.open(sealed, "another place")).rejects.toBeInstanceOf(UnreadableSeal);
    const other = new Sealer(new Uint8Array(32).fill(2), system.random);
    await expect(other.open(sealed, "place")).rejects.toBeInstanceOf(UnreadableSeal);
    for (const at of [0, 8, 20, 36, sealed.length - 1]) {
      const changed = sealed.slice();
      changed[at] = (changed[at] ?? 0) ^ 1;
      await expect(sealer.open(changed, "place")).rejects.toBeInstanceOf(UnreadableSeal);
    }
    await expect(sealer.open(sealed.slice(0, 30), "place")).rejects.toBeInstanceOf(UnreadableSeal);
  });
});
