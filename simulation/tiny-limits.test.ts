import { describe, expect, test } from "bun:test";
import { SharedWorld } from "./shared-world.ts";
import { playTinyLimits } from "./tiny-limits.ts";

const SEEDS = Number(process.env["TRIVIUM_SEEDS"] ?? 40);
const first = Number(process.env["TRIVIUM_SEED"] ?? Math.floor(Math.random() * 1_000_000_000));

describe("H23, choices 9: several instances admit what one process admits", () => {
  console.log(`law of shared limits: TRIVIUM_SEED=${first}`);
  const seen = { admitted: 0, refused: 0 };

  for (let seed = first; seed < first + SEEDS; seed++) {
    test(`a call that one process would admit is admitted within a second, and no limit is exceeded: seed ${seed}`, async () => {
      const { broken, admitted, refused, longestMs } = await playTinyLimits(seed);
      expect({ seed, broken }).toEqual({ seed, broken: [] });
      // Half a second before its body is read, and half a second after.
      expect(longestMs).toBeLessThanOrEqual(1_000);
      seen.admitted += admitted;
      seen.refused += refused;
    });
  }

  test("these runs admit and refuse calls, or they would prove nothing", () => {
    expect(seen.admitted).toBeGreaterThan(SEEDS);
    expect(seen.refused).toBeGreaterThan(SEEDS);
  });
});

describe("H44: a changed budget reaches every instance", () => {
  const budget = (usd: number, startMs?: number) =>
    SharedWorld.start({
      seed: 7,
      instances: 3,
      limits: [{ budgetUsdPerDay: usd }],
      tells: false,
      ...(startMs !== undefined && { startMs }),
    });
  const call = (at: number, lastsMs = 5) => ({ at, tokens: 1, costNanoUsd: 10_000_000, lastsMs, usedPart: 1 });
  /** How many of this many calls are admitted, one after another, at each instance in turn. */
  const admitted = async (world: SharedWorld, calls: number): Promise<number> => {
    let count = 0;
    for (let index = 0; index < calls; index++) {
      if (await world.clock.until(world.call(call(index)))) count++;
      await world.pass(20);
    }
    return count;
  };

  test("an instance that dies between its receipt and its next message neither frees nor blocks what is left", async () => {
    const world = await budget(0.1);
    expect(await admitted(world, 3)).toBe(3);
    // One call is settled but not reported; another one is in flight.
    expect(await world.clock.until(world.call(call(0, 0)))).toBe(true);
    expect(await world.clock.until(world.call(call(0, 60_000)))).toBe(true);
    await world.clock.pass(1);
    world.kill(0);
    await world.pass(14_000);
    expect(await admitted(world, 12)).toBe(6);
    expect(world.broken).toEqual([]);
  });

  test("a new day begins for all instances at once", async () => {
    const world = await budget(0.04, Date.UTC(2026, 0, 2) - 20_000);
    expect(await admitted(world, 8)).toBe(4);
    await world.pass(Date.UTC(2026, 0, 2) - world.clock.wallMs());
    expect(await admitted(world, 8)).toBe(4);
  });
});
