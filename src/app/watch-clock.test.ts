import { expect, test } from "bun:test";
import { watchClock } from "./watch-clock.ts";

test("H30: a clock that is set is noticed once, with how far; one that is slowly set right is not", async () => {
  const clock = { nowMs: 1_000, wallMs: 50_000 };
  const steps: number[] = [];
  const seen = Promise.withResolvers<void>();
  const stop = watchClock({
    wallMs: () => clock.wallMs,
    nowMs: () => clock.nowMs,
    everyMs: 1,
    onStep: (byMs) => {
      steps.push(byMs);
      if (steps.length === 2) seen.resolve();
    },
  });
  for (let look = 0; look < 5; look += 1) {
    clock.nowMs += 1_000;
    clock.wallMs += 1_500;
    await Bun.sleep(5);
  }
  clock.wallMs -= 3_600_000;
  while (steps.length < 1) await Bun.sleep(1);
  clock.wallMs += 7_200_000;
  await seen.promise;
  await Bun.sleep(10);
  stop();
  expect(steps).toEqual([-3_600_000, 7_200_000]);
});
