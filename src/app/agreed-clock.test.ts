import { describe, expect, test } from "bun:test";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import type { Clock } from "../base/clock.ts";
import { openStorage } from "../storage/open.ts";
import type { Storage } from "../storage/storage.ts";
import { agreedClock, aheadOfWall } from "./agreed-clock.ts";

const HOUR_MS = 3_600_000;

/** The clock of a process that starts now on a machine whose clock is wrong by this much. */
const wrongBy = (clock: Clock, ms: number): Clock => ({
  ...clock,
  nowMs: () => clock.nowMs() + ms,
  wallMs: () => clock.wallMs() + ms,
});

describe("H30: processes that use one storage agree on the time", () => {
  test("on PostgreSQL they follow the server's clock, whatever the clocks of their machines show", async () => {
    const clock = new VirtualClock();
    const query = async () => [{ now_ms: BigInt(Math.round(clock.nowMs())) }];
    const storage = { engine: "postgres", query } as unknown as Storage;
    for (const ms of [-HOUR_MS, 0, 24 * HOUR_MS]) {
      const own = wrongBy(clock, ms);
      const agreed = await agreedClock(storage, own);
      expect(agreed.clock.nowMs()).toBeCloseTo(clock.nowMs(), -1);
      expect(agreed.clock.wallMs()).toBe(own.wallMs());
      expect(agreed.differsMs).toBeCloseTo(ms, -1);
      await clock.pass(5_000);
      expect(agreed.clock.nowMs()).toBeCloseTo(clock.nowMs(), -1);
    }
  });

  test("the fastest of several responses counts, less half of its round trip", async () => {
    const clock = new VirtualClock();
    const delays = [
      [40, 5],
      [1, 30],
      [2, 2],
      [0, 90],
    ];
    let asked = 0;
    const query = async () => {
      const [before = 10, after = 10] = delays[asked++] ?? [];
      await clock.pass(before);
      const row = { now_ms: clock.nowMs() + HOUR_MS };
      await clock.pass(after);
      return [row];
    };
    const storage = { engine: "postgres", query } as unknown as Storage;
    const agreed = await agreedClock(storage, wrongBy(clock, 0));
    expect(agreed.clock.nowMs() - clock.nowMs()).toBeCloseTo(HOUR_MS, 6);
    expect(asked).toBe(8);
  });

  test("on one machine, a worker that starts after the clock was set follows the clock of the first process", async () => {
    const clock = new VirtualClock();
    const storage = await openStorage("sqlite::memory:", clock);
    for (const ms of [-HOUR_MS, 0, 24 * HOUR_MS]) {
      clock.stepWall(ms);
      // The time according to a process that starts now.
      const byMs = clock.wallMs() - clock.nowMs();
      const fresh: Clock = { ...clock, wallMs: clock.wallMs, nowMs: () => clock.nowMs() + byMs };
      const worker = await agreedClock(storage, fresh, aheadOfWall(clock));
      expect(worker.clock.nowMs()).toBeCloseTo(clock.nowMs(), 3);
      expect((await agreedClock(storage, fresh)).clock).toBe(fresh);
    }
    await storage.close();
  });
});
