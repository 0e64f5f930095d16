import { describe, expect, test } from "bun:test";
import { VirtualClock } from "../../../testing/virtual-clock.ts";
import { NOT_WATCHED, Watchdog, type Watched } from "./watchdog.ts";

const TICK_MS = 100;

const watchedBy = (check: Watched["check"]): Watched => ({ check, watchIndex: NOT_WATCHED });

describe("the watchdog", () => {
  test("checks on every tick until unwatched; there is no timer without watches", async () => {
    const clock = new VirtualClock({ startMs: 0 });
    const watchdog = new Watchdog(clock);
    const heard: number[] = [];
    const watched = watchedBy((now) => heard.push(now));
    watchdog.watch(watched);
    await clock.pass(3.5 * TICK_MS);
    expect(heard).toEqual([100, 200, 300]);
    watchdog.unwatch(watched);
    await clock.pass(2 * TICK_MS);
    expect(heard).toHaveLength(3);
    expect(clock.timers).toBe(0);
  });

  test("a check may end any watch, including its own, and all others are still checked", async () => {
    const clock = new VirtualClock();
    const watchdog = new Watchdog(clock);
    const names = ["a", "b", "c"];
    for (const ending of names) {
      for (const ended of names) {
        const asked = new Set<string>();
        const all = new Map<string, Watched>();
        const end = (name: string) => watchdog.unwatch(all.get(name) ?? watchedBy(() => {}));
        for (const name of names) {
          const watched = watchedBy(() => {
            asked.add(name);
            if (name === ending) end(ended);
          });
          all.set(name, watched);
          watchdog.watch(watched);
        }
        await clock.pass(TICK_MS);
        for (const name of names) if (name !== ended) expect(asked).toContain(name);
        expect(asked.has(ended) || ended !== ending).toBe(true);
        for (const name of names) end(name);
      }
    }
  });

  test("ending a watch twice does not affect the others", async () => {
    const clock = new VirtualClock();
    const watchdog = new Watchdog(clock);
    const watched = watchedBy(() => {});
    let asked = 0;
    const other = watchedBy(() => asked++);
    watchdog.watch(watched);
    watchdog.watch(other);
    watchdog.unwatch(watched);
    watchdog.unwatch(watched);
    await clock.pass(2.5 * TICK_MS);
    expect(asked).toBe(2);
    watchdog.unwatch(other);
  });

  test("something watched twice is checked once per tick and ended by one unwatch", async () => {
    const clock = new VirtualClock();
    const watchdog = new Watchdog(clock);
    let asked = 0;
    const watched = watchedBy(() => asked++);
    watchdog.watch(watched);
    watchdog.watch(watched);
    await clock.pass(1.5 * TICK_MS);
    watchdog.unwatch(watched);
    await clock.pass(2 * TICK_MS);
    expect(asked).toBe(1);
    expect(clock.timers).toBe(0);
  });
});
