import { describe, expect, test } from "bun:test";
import { eventually } from "./eventually.ts";

describe("eventually", () => {
  test("returns the first result that is not falsy", async () => {
    let asked = 0;
    expect(await eventually("the third time", () => (++asked < 3 ? undefined : `asked ${asked}`))).toBe("asked 3");
  });

  test("says what it waited for and what it saw last", async () => {
    const waiting = eventually("the moon", () => 0, { withinMs: 20, seen: () => ({ rows: 2 }) });
    await expect(waiting).rejects.toThrow("waited 0.02 s for the moon; last seen: {\n  rows: 2,\n}");
    await expect(eventually("the moon", () => 0, { withinMs: 0 })).rejects.toThrow("last seen: 0");
  });

  test("an error of the condition ends the wait", async () => {
    let asked = 0;
    const fail = () => {
      asked++;
      throw new Error("the program has ended");
    };
    await expect(eventually("an answer", fail)).rejects.toThrow("the program has ended");
    expect(asked).toBe(1);
  });
});
