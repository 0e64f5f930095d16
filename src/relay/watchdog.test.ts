import { describe, expect, test } from "bun:test";
import { Watchdog } from "./watchdog.ts";

const TICK_MS = 100;

describe("the watchdog", () => {
  test("asks on every tick, until the watch is ended", async () => {
    const watchdog = new Watchdog(() => 7);
    const heard: number[] = [];
    const end = watchdog.watch((now) => heard.push(now));
    await Bun.sleep(3.5 * TICK_MS);
    expect(heard.length).toBeGreaterThanOrEqual(2);
    expect(new Set(heard)).toEqual(new Set([7]));
    end();
    const { length } = heard;
    await Bun.sleep(2 * TICK_MS);
    expect(heard).toHaveLength(length);
  });

  test("a check may end any watch, its own too, and all others are asked all the same", async () => {
    const watchdog = new Watchdog(() => 0);
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
        const tick = Promise.withResolvers<void>();
        const endTick = watchdog.watch(() => tick.resolve());
        await tick.promise;
        await Bun.sleep(0);
        for (const name of names) if (name !== ended) expect(asked).toContain(name);
        expect(asked.has(ended) || ended !== ending).toBe(true);
        endTick();
        for (const end of ends.values()) end();
      }
    }
  });

  test("ending a watch twice leaves the others alone", async () => {
    const watchdog = new Watchdog(() => 0);
    const end = watchdog.watch(() => {});
    let asked = 0;
    const endOther = watchdog.watch(() => asked++);
    end();
    end();
    await Bun.sleep(2.5 * TICK_MS);
    expect(asked).toBeGreaterThan(0);
    endOther();
  });
});
