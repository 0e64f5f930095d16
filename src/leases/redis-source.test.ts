import { afterAll, describe, expect, test } from "bun:test";
import { startRedis } from "../../testing/redis.ts";
import type { Clock } from "../base/clock.ts";
import { system } from "../base/system.ts";
import type { Sync } from "./lease-source.ts";
import { LEASE_MS, type TestSource } from "./lease-world.sample.ts";
import { leaseContract } from "./leases.contract.ts";
import { RedisSource } from "./redis-source.ts";

const redis = await startRedis();
afterAll(() => redis?.stop());

if (redis === undefined) {
  test("leases from Redis are not tested: neither redis-server nor valkey-server is installed", () => {
    expect(process.env["CI"]).not.toBe("true");
  });
} else {
  let worlds = 0;
  const sources: RedisSource[] = [];
  const keep = (source: RedisSource) => {
    sources.push(source);
    return source;
  };
  afterAll(() => Promise.all(sources.map((source) => source.close())));
  /** A world of its own on the same server: the time is that of the test. */
  const sourceOf = (clock: Clock): TestSource => {
    const prefix = () => `world${++worlds}:`;
    const make = () =>
      keep(new RedisSource({ url: redis.url, prefix: prefix(), leaseMs: LEASE_MS, ...system, nowMs: clock.nowMs }));
    let source = make();
    return {
      sync: (sync) => source.sync(sync),
      flush: async () => {
        source = make();
      },
    };
  };
  leaseContract("Redis", sourceOf, Number(process.env["LEASE_RUNS"] ?? 4));

  describe("choices 9, H29: a Redis server that fails", () => {
    const leaseMs = LEASE_MS;
    const empty: Sync = {
      instance: "one",
      number: 1,
      epoch: "",
      answered: 0,
      claims: [],
      reclaims: [],
      isFirst: true,
      dead: [],
      leaves: false,
      news: [],
      newsSeen: 0,
    };

    test("is given up in time when it is frozen, and asked again over a new connection", async () => {
      const source = new RedisSource({ url: redis.url, prefix: "frozen:", leaseMs, ...system });
      expect((await source.sync(empty)).instances).toBe(1);
      redis.freeze();
      const began = performance.now();
      expect(source.sync({ ...empty, number: 2 })).rejects.toThrow("did not answer within 900 ms");
      await Bun.sleep(1_000);
      await expect(source.sync({ ...empty, number: 3 })).rejects.toThrow();
      expect(performance.now() - began).toBeLessThan(5_000);
      redis.thaw();
      expect((await source.sync({ ...empty, number: 4 })).instances).toBe(1);
      await source.close();
    });

    test("is asked again when it was stopped, and starts empty", async () => {
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
      const claim = { window: "budget", kind: "budget" as const, limit, held: 1, wants: limit, spent: { "": 4 } };
      const { held } = await source.sync({ ...empty, claims: [claim] });
      expect(held).toEqual([limit - 4]);
      await source.close();
    });
  });
}
