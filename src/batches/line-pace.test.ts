import { expect, test } from "bun:test";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { LinePace } from "./line-pace.ts";

/** A clock of an event loop whose turns take this long. */
function busyClock() {
  let nowMs = 0;
  let turnMs = 0;
  let timer: (() => void) | undefined;
  const clock = {
    ...new VirtualClock(),
    nowMs: () => nowMs,
    soon: (run: () => void) => {
      nowMs += turnMs;
      run();
    },
    every: (_ms: number, run: () => void) => {
      timer = run;
      return () => {
        timer = undefined;
      };
    },
  };
  /** Lets the timer fire so often. */
  const fire = (times: number, ms: number) => {
    turnMs = ms;
    for (let time = 0; time < times; time++) {
      nowMs += 20;
      timer?.();
    }
  };
  return { clock, fire, isSet: () => timer !== undefined };
}

test("choices 12: fewer lines run while turns of the event loop are long, and all again once they are not", () => {
  const { clock, fire, isSet } = busyClock();
  const pace = new LinePace({ clock, max: 8, runningCalls: () => 0 });
  expect([pace.limit, isSet()]).toEqual([8, false]);
  let isNeeded = true;
  pace.follow(() => isNeeded);
  fire(20, 1);
  expect(pace.limit).toBe(8);
  // One long turn is no reason.
  fire(1, 30);
  fire(20, 1);
  expect(pace.limit).toBe(8);
  fire(5, 10);
  expect(pace.limit).toBe(4);
  fire(40, 10);
  expect(pace.limit).toBe(1);
  fire(200, 0);
  expect(pace.limit).toBe(8);
  isNeeded = false;
  fire(10, 30);
  expect([pace.limit, isSet()]).toEqual([8, false]);
});
