import { expect, test } from "bun:test";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { watchClock } from "./watch-clock.ts";

test("H30: a step of the clock is reported once, with its size; a slow correction is not", async () => {
  const clock = new VirtualClock();
  const steps: number[] = [];
  const stop = watchClock({ clock, onStep: (byMs) => steps.push(byMs) });
  for (let look = 0; look < 5; look++) {
    clock.stepWall(500);
    await clock.pass(5_000);
  }
  expect(steps).toEqual([]);
  clock.stepWall(-3_600_000);
  await clock.pass(60_000);
  clock.stepWall(7_200_000);
  await clock.pass(60_000);
  expect(steps).toEqual([-3_600_000, 7_200_000]);
  stop();
  expect(clock.timers).toBe(0);
});
