import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { RateWindow } from "./rate-window.ts";

const START_MS = Date.UTC(2026, 0, 1);

/** A slow reference implementation: every amount with its second. */
class SlowWindow {
  readonly #amounts: { second: number; amount: number }[] = [];

  used(nowMs: number): number {
    return this.#amounts.reduce((sum, { second, amount }) => sum + (second > secondOf(nowMs) - 60 ? amount : 0), 0);
  }

  add(nowMs: number, amount: number): void {
    this.#amounts.push({ second: secondOf(nowMs), amount });
  }

  correct(addedMs: number, nowMs: number, added: number, actual: number): void {
    if (secondOf(addedMs) > secondOf(nowMs) - 60) this.add(addedMs, actual - added);
    else if (actual > added) this.add(nowMs, actual - added);
  }

  secondsUntil(nowMs: number, enough: (used: number) => boolean): number {
    for (let seconds = 0; seconds < 60; seconds += 1) if (enough(this.used(nowMs + seconds * 1_000))) return seconds;
    return 60;
  }
}

const secondOf = (ms: number): number => Math.floor(ms / 1_000);

describe("RateWindow", () => {
  test("counts what was used in the last sixty seconds, in any order of additions and corrections", () => {
    const step = fc.record({
      passMs: fc.oneof(fc.nat(3_000), fc.nat(90_000), fc.constantFrom(0, 1_000, 59_000, 60_000, 61_000)),
      amount: fc.integer({ min: 1, max: 9 }),
      actual: fc.nat(9),
      /** How many steps ago the corrected amount was added. */
      back: fc.nat(6),
      asks: fc.constantFrom("used", "free", "empty", "nothing"),
      corrects: fc.boolean(),
      drops: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let nowMs = START_MS;
        const window = new RateWindow();
        const slow = new SlowWindow();
        const added: { atMs: number; amount: number }[] = [];
        for (const { passMs, amount, actual, back, asks, corrects, drops } of steps) {
          nowMs += passMs;
          // Like an idle key, whose slots are dropped.
          if (drops && slow.used(nowMs) === 0) window.drop();
          const corrected = corrects ? added.splice(-1 - back, 1)[0] : undefined;
          if (corrected === undefined) {
            window.add(nowMs, amount);
            slow.add(nowMs, amount);
            added.push({ atMs: nowMs, amount });
          } else {
            window.correct(corrected.atMs, nowMs, corrected.amount, actual);
            slow.correct(corrected.atMs, nowMs, corrected.amount, actual);
          }
          // Time passes between adding and reading.
          nowMs += passMs;
          if (asks === "used") expect(window.used(nowMs)).toBe(slow.used(nowMs));
          if (asks === "empty") {
            expect(window.secondsUntilEmpty(nowMs)).toBe(slow.secondsUntil(nowMs, (used) => used === 0));
          }
          if (asks === "free") {
            const until = slow.secondsUntil(nowMs, (used) => used + amount <= 9);
            // It is not called while there is space; then the result is the shortest wait that clients get.
            expect(window.secondsUntilFree(nowMs, 9, amount)).toBe(Math.max(1, until));
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  test("an amount that never fits waits for a minute", () => {
    const window = new RateWindow();
    window.add(START_MS, 5);
    expect(window.secondsUntilFree(START_MS, 10, 11)).toBe(60);
  });
});
