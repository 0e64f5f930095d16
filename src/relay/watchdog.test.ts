import { describe, expect, test } from "bun:test";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { Watchdog } from "./watchdog.ts";

const TICK_MS = 100;

describe("the watchdog", () => {
  test("asks on every tick, until the watch is ended; without watches there is no timer", async () => {
    const clock = new VirtualClock(0);
    const watchdog = new Watchdog(clock);
    const heard: number[] = [];
    const end = watchdog.watch((now) => heard.push(now));
    await clock.pass(3.5 * TICK_MS);
    expect(heard).toEqual([100, 200, 300]);
    end();
    await clock.pass(2 * TICK_MS);
    expect(heard).toHaveLength(3);
    expect(clock.timers).toBe(0);
  });

  test("a check may end any watch, its own too, and all others are asked all the same", async () => {
    const clock = new VirtualClock();
    const watchdog = new Watchdog(clock);
    const names = ["a", "b", "c"];
    for (const ending of names) {
      for (const ended of names) {
        const asked = new Set<string>();
        const ends = new Map<string, () => void>();
        for (const name of names) {
          const check = () => {
            asked.add(name);
            if (name === ending) ends.get(ended)?.();
          };
          ends.set(name, watchdog.watch(check));
        }
        await clock.pass(TICK_MS);
        for (const name of names) if (name !== ended) expect(asked).toContain(name);
        expect(asked.has(ended) || ended !== ending).toBe(true);
        for (const end of ends.values()) end();
      }
    }
  });

  test("ending a watch twice leaves the others alone", async () => {
    const clock = new VirtualClock();
    const watchdog = new Watchdog(clock);
    const end = watchdog.watch(() => {});
    let asked = 0;
    const endOther = watchdog.watch(() => asked++);
    end();
    end();
    await clock.pass(2.5 * TICK_MS);
    expect(asked).toBe(2);
    endOther();
  });
});
