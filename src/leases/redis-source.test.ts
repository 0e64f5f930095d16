import { afterAll, describe, expect, test } from "bun:test";
import { RedisClient } from "bun";
import { isPresent } from "../../testing/is-present.ts";
import { startRedis } from "../../testing/redis.ts";
import type { Clock } from "../base/clock.ts";
import { system } from "../base/system.ts";
import type { Sync } from "./lease-source.ts";
import { LEASE_MS, LeaseWorld, LIMITS, type TestSource } from "./lease-world.sample.ts";
import { leaseContract } from "./leases.contract.ts";
import { RedisSource } from "./redis-source.ts";

const redis = await startRedis();
afterAll(() => redis?.stop());

isPresent(redis !== undefined, "leases from Redis: neither redis-server nor valkey-server is installed");
if (redis === undefined) {
  test.skip("leases from Redis", () => {});
} else {
  let worlds = 0;
  const sources: RedisSource[] = [];
  const keep = (source: RedisSource) => {
    sources.push(source);
    return source;
  };
  afterAll(() => Promise.all(sources.map((source) => source.close())));
  /** How far the server's clock was set in the last world. */
  let setMs = 0;
  /** A separate world on the same server: the time is that of the test. */
  const sourceOf = (clock: Clock): TestSource => {
    setMs = 0;
    const prefix = () => `world${++worlds}:`;
    const nowMs = () => clock.nowMs() + setMs;
    const make = () => keep(new RedisSource({ url: redis.url, prefix: prefix(), leaseMs: LEASE_MS, ...system, nowMs }));
    let source = make();
    return {
      sync: (sync) => source.sync(sync),
      flush: async () => {
        source = make();
      },
    };
  };
  /** What Redis does when its memory is full: one window is forgotten, and the rest is not. */
  const evict = async (window: string) => {
    const client = new RedisClient(redis.url, { autoReconnect: false });
    expect(await client.send("DEL", [`world${worlds}:{leases}:w:${window}`])).toBe(1);
    client.close();
  };
  leaseContract("Redis", sourceOf, Number(process.env["LEASE_RUNS"] ?? 4));

  describe("choices 9, H23: a window that Redis has evicted", () => {
    for (const window of ["rate", "slots", "budget"] as const) {
      test(`${window}: the instances that hold some of it exceed no limit`, async () => {
        const world = new LeaseWorld(201, sourceOf);
        for (let count = 0; count < 3; count++) await world.start();
        const call = () => void world.random.pick(world.living).call(1_000_000, 400);
        await world.pass(500, call);
        await evict(window);
        await world.pass(3_000, call);
        expect(world.broken).toEqual([]);
        await world.pass(90_000, () => void (world.random.chance(0.05) && call()));
        expect(world.broken).toEqual([]);
        expect(world.admitted).toBeGreaterThan(LIMITS.rate);
      });

      test(`${window}: one that starts meanwhile takes at most an equal share beyond it`, async () => {
        const world = new LeaseWorld(202, sourceOf);
        for (let count = 0; count < 2; count++) await world.start();
        await world.pass(500);
        await evict(window);
        world.tolerance = 0.5;
        const third = await world.start();
        await world.pass(3_000, () => void third.call(1_000_000, 400));
        await world.pass(3_000, () => void world.random.pick(world.living).call(1_000_000, 400));
        expect(world.broken).toEqual([]);
        await world.pass(140_000);
        world.tolerance = 0;
        await world.pass(5_000, () => void world.random.pick(world.living).call(1_000_000, 400));
        expect(world.broken).toEqual([]);
      });
    }
  });

  describe("H30, H23: the clock of the Redis server is set", () => {
    const HOUR_MS = 3_600_000;
    const startThree = async (seed: number) => {
      const world = new LeaseWorld(seed, sourceOf);
      for (let count = 0; count < 3; count++) await world.start();
      return world;
    };

    test("forward: what a dead instance has used of a rate is not free before its minute is over", async () => {
      const world = await startThree(301);
      const [first] = world.living;
      if (first === undefined) throw new Error("no instance");
      await world.pass(4_000, () => void first.call(0, 5));
      expect(world.admitted).toBe(LIMITS.rate);
      first.kill();
      await world.pass(1_000);
      setMs = HOUR_MS;
      await world.pass(50_000, () => void world.random.pick(world.living).call(0, 5));
      expect(world.broken).toEqual([]);
      await world.pass(30_000, () => void world.random.pick(world.living).call(0, 5));
      expect(world.broken).toEqual([]);
      expect(world.admitted).toBeGreaterThanOrEqual(LIMITS.rate + Math.floor(0.98 * LIMITS.rate));
    });

    /** Everything that can be had, requested by calls. */
    const getsAll = async (world: LeaseWorld) => {
      const [last] = world.living;
      await world.pass(4_000, () => void last?.call(0, 3_500));
      expect(last?.mayUse("slots")).toBe(LIMITS.slots);
      await world.pass(4_000, () => void last?.call(0, 5));
      expect(last?.mayUse("rate")).toBe(LIMITS.rate);
    };

    test("back: what dead instances held is returned, concurrent calls when their leases expire and rates a minute later", async () => {
      const world = await startThree(302);
      const [first, second, third] = world.living;
      if (first === undefined || second === undefined || third === undefined) throw new Error("no instance");
      await world.pass(2_000, () => void (world.random.chance(0.1) && first.call(0, 20)));
      setMs = -HOUR_MS;
      first.kill();
      second.kill();
      await world.pass(LEASE_MS + 1_000);
      await world.pass(4_000, () => void third.call(0, 3_500));
      expect(third.mayUse("slots")).toBe(LIMITS.slots);
      await world.pass(62_000);
      await getsAll(world);
      expect(world.broken).toEqual([]);
    });

    test("forward after a flush: nothing is granted before the silent instances have lost their leases", async () => {
      const world = await startThree(303);
      const [first] = world.living;
      if (first === undefined) throw new Error("no instance");
      await world.pass(2_000, () => void first.call(0, 2_000));
      first.isParted = true;
      await world.flush();
      await world.pass(500);
      setMs = HOUR_MS;
      await world.pass(LEASE_MS - 1_000, () => void world.random.pick(world.living).call(0, 2_000));
      expect(world.broken).toEqual([]);
    });

    for (let seed = 310; seed < 310 + Number(process.env["LEASE_RUNS"] ?? 3); seed++) {
      test(`repeatedly, while instances die and join: no limit is exceeded, and all of it is returned (${seed})`, async () => {
        const world = await startThree(seed);
        const call = () => {
          const { living } = world;
          if (living.length > 0 && world.random.chance(0.3))
            world.random.pick(living).call(world.random.between(0, 4_000_000), world.random.between(5, 2_000));
        };
        for (let round = 0; round < 12; round++) {
          setMs += world.random.between(-2 * HOUR_MS, 2 * HOUR_MS);
          if (world.random.chance(0.3) && world.living.length > 1) world.random.pick(world.living).kill();
          if (world.living.length < 3) await world.start();
          await world.pass(world.random.between(300, 9_000), call);
        }
        expect(world.broken).toEqual([]);
        const [last] = world.living;
        for (const one of world.living) if (one !== last) one.kill();
        await world.pass(75_000);
        await getsAll(world);
        expect(world.broken).toEqual([]);
      });
    }
  });

  describe("choices 9, H29: a Redis server that fails", () => {
    const leaseMs = LEASE_MS;
    const empty: Sync = {
      instance: "one",
      number: 1,
      epoch: "",
      answered: 0,
      answeredAgoMs: 0,
      journals: "",
      isBehind: false,
      claims: [],
      reclaims: [],
      isFirst: true,
      dead: [],
      leaves: false,
      news: [],
      newsSeen: 0,
    };

    test("is abandoned in time when it is frozen, and called again over a new connection", async () => {
      const source = new RedisSource({ url: redis.url, prefix: "frozen:", leaseMs, ...system });
      expect((await source.sync(empty)).instances).toBe(1);
      redis.freeze();
      await expect(source.sync({ ...empty, number: 2 })).rejects.toThrow("did not answer within 900 ms");
      await expect(source.sync({ ...empty, number: 3 })).rejects.toThrow();
      redis.thaw();
      expect((await source.sync({ ...empty, number: 4 })).instances).toBe(1);
      await source.close();
    });

    test("is called again after it was stopped and starts empty", async () => {
      const source = new RedisSource({ url: redis.url, prefix: "stopped:", leaseMs, ...system });
      const { epoch } = await source.sync(empty);
      await redis.halt();
      await expect(source.sync({ ...empty, number: 2 })).rejects.toThrow();
      await redis.start();
      const again = await source.sync({ ...empty, number: 3 });
      expect(again.epoch).not.toBe(epoch);
      await source.close();
    });

    test("amounts keep every digit", async () => {
      const source = new RedisSource({ url: redis.url, prefix: "digits:", leaseMs, ...system });
      const limit = 9_000_000_000_000_007;
      const claim = {
        window: "budget",
        kind: "budget" as const,
        limit,
        held: 1,
        used: 1,
        wants: limit,
        spent: { "": 4 },
      };
      const { held } = await source.sync({ ...empty, claims: [claim] });
      expect(held).toEqual([limit - 4]);
      await source.close();
    });
  });
}
