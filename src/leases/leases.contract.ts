import { describe, expect, test } from "bun:test";
import type { Clock } from "../base/clock.ts";
import type { Claim, Sync, SyncAnswer } from "./lease-source.ts";
import { LEASE_MS, LeaseWorld, LIMITS, type TestSource } from "./lease-world.sample.ts";

/** Calls that are small compared with the budget. */
const COST = 2_000_000;

/** Tests that every source of leases must pass. */
export function leaseContract(name: string, source: (clock: Clock) => TestSource, runs: number): void {
  const worldOf = (seed: number) => new LeaseWorld(seed, source);

  describe(`H23, choices 9: limits of several instances, with leases from ${name}`, () => {
    for (let seed = 1; seed <= runs; seed++) {
      test(`no limit is exceeded when messages are lost or late, instances die and join, and the source forgets (${seed})`, async () => {
        const world = worldOf(seed);
        for (let count = world.random.between(1, 4); count > 0; count--) await world.start();
        world.weather = { lost: world.random.next() * 0.2, late: world.random.next() * 0.05 };
        for (let round = 0; round < 30; round++) {
          const what = world.random.weighted({ calls: 20, kill: 2, join: 2, leave: 1, flush: 1, part: 2 });
          const { living } = world;
          const one = living.length > 0 ? world.random.pick(living) : undefined;
          if (what === "kill") one?.kill();
          else if (what === "flush") await world.flush();
          else if (what === "leave" && living.length > 1) await one?.leave();
          else if (what === "join" && living.length < 5) {
            await joinInAnyWeather(world);
            await calm(world);
          } else if (what === "part" && one) one.isParted = true;
          const busy = world.living;
          await world.pass(world.random.between(200, LEASE_MS * 0.7), () => {
            if (busy.length === 0 || !world.random.chance(0.4)) return;
            const at = world.random.pick(busy);
            if (at.isAlive) at.call(world.random.between(0, 4 * COST), world.random.between(5, 3_000));
          });
          for (const { isAlive } of world.living) expect(isAlive).toBe(true);
          for (const instance of world.living) instance.isParted = false;
          await calm(world);
        }
        expect(world.broken).toEqual([]);
      });
    }

    test("with even load at most 2% of the usable capacity is refused", async () => {
      const world = worldOf(101);
      for (let count = 0; count < 3; count++) await world.start();
      // Five times what the rate allows.
      await world.pass(30_000, () => world.random.pick(world.living).call(0, 5));
      expect(world.broken).toEqual([]);
      expect(world.admitted).toBeGreaterThanOrEqual(0.98 * LIMITS.rate);
    });

    test("if all load goes to one instance, the others give back what they do not use", async () => {
      const world = worldOf(102);
      const first = await world.start();
      await world.start();
      await world.start();
      await world.pass(4_000, () => first.call(0, 5));
      expect(world.broken).toEqual([]);
      expect(world.admitted).toBeGreaterThanOrEqual(0.98 * LIMITS.rate);
      // And when it moves to another a minute later.
      const [, second] = world.living;
      await world.pass(62_000);
      const before = world.admitted;
      await world.pass(4_000, () => second?.call(0, 5));
      expect(world.admitted - before).toBeGreaterThanOrEqual(0.98 * LIMITS.rate);
      expect(world.broken).toEqual([]);
    });

    test("an instance that has received what it was short of takes no more from others that have calls too", async () => {
      const claim = claimAt(worldOf(112), { window: "w", kind: "rate", limit: 900, held: 0, used: 0 });
      await claim("b", 1, {}, true);
      expect((await claim("a", 1, { wants: 900 })).held).toEqual([900]);
      expect((await claim("b", 2, { wants: 300 })).held).toEqual([0]);
      expect((await claim("a", 2, { held: 900, busy: 900 })).wanted).toEqual([{ window: "w", level: 450 }]);
      expect((await claim("a", 3, { held: 450, busy: 450 })).wanted).toEqual([]);
      expect((await claim("b", 3, { wants: 300 })).held).toEqual([450]);
      expect((await claim("a", 4, { held: 450, busy: 450 })).wanted).toEqual([]);
    });

    test("a passing budget is forgotten with the last instance that uses it, and what was spent counts when it returns", async () => {
      const claim = claimAt(worldOf(140), {
        window: "w",
        kind: "budget",
        limit: 100,
        held: 0,
        used: 0,
        isPassing: true,
      });
      expect((await claim("a", 1, {}, true)).unknown).toEqual(["w"]);
      await claim("b", 1, {});
      expect((await claim("a", 2, { spent: { "": 10 }, wants: 50 })).held).toEqual([50]);
      expect((await claim("b", 2, { wants: 40 })).held).toEqual([40]);
      expect((await claim("a", 3, { held: 30, used: 30, forgets: true })).held).toEqual([0]);
      // 10 and 30 are spent.
      expect((await claim("b", 3, { held: 40, used: 20, wants: 60 })).held).toEqual([60]);
      // It returns with what it has spent before, which does not count twice.
      expect((await claim("a", 4, { held: 30, used: 30, wants: 80 })).held).toEqual([30]);
      await claim("a", 5, { held: 30, used: 30, forgets: true });
      await claim("b", 4, { held: 20, used: 20, forgets: true });
      expect((await claim("a", 6, { held: 30, used: 30 })).unknown).toEqual(["w"]);
      const spent = { "": 10, a: 30, b: 20 };
      expect((await claim("a", 7, { held: 30, used: 30, spent, wants: 100 })).held).toEqual([70]);
    });

    test("an instance that leaves is one that has died: only what the ledger says is spent", async () => {
      const claim = claimAt(worldOf(141), { window: "w", kind: "budget", limit: 100, held: 0, used: 0 });
      await claim("a", 1, { spent: {} }, true);
      await claim("a", 2, { held: 90, used: 20 });
      // It says nothing more of the window: there may be very many of them.
      await claim("a", 3, { window: "other", kind: "slots" }, false, { leaves: true });
      const { dead, held } = await claim("b", 1, { wants: 100 });
      expect({ dead, held }).toEqual({ dead: [{ instance: "a", windows: ["w"] }], held: [10] });
      const reclaims = [{ instance: "a", window: "w", spent: 20 }];
      expect((await claim("b", 2, { held: 10, wants: 100 }, false, { reclaims })).held).toEqual([80]);
    });

    test("what calls and jobs still hold when an instance stops is not booked as spent", async () => {
      const world = worldOf(142);
      const stops = await world.start();
      const stays = await world.start();
      await world.pass(1_000);
      // A job at a provider, which another instance continues.
      expect(stops.call(LIMITS.budget / 4, 60_000)).toBe(true);
      await world.until(stops.leases.stop());
      stops.kill();
      await world.pass(5_000, () => void stays.short("budget"));
      expect(stays.mayUse("budget")).toBe(LIMITS.budget);
      expect(world.broken).toEqual([]);
    });

    test("an instance that joins while an empty source grants nothing new gets its share of what others reported", async () => {
      const claim = claimAt(worldOf(115), { window: "w", kind: "slots", limit: 1_000, held: 0, used: 0 });
      expect((await claim("b", 1, { wants: "share" })).held).toEqual([0]);
      expect((await claim("a", 1, { held: 500 })).wanted).toEqual([{ window: "w", level: 250 }]);
      expect((await claim("a", 2, { held: 250 })).wanted).toEqual([]);
      expect((await claim("b", 2, { wants: "share" })).held).toEqual([250]);
      expect((await claim("a", 3, { held: 250 })).wanted).toEqual([]);
    });

    test("the rest moves to the call that arrived first, and only as much as it needs", async () => {
      const claim = claimAt(worldOf(117), { window: "w", kind: "rate", limit: 90, held: 0, used: 0 });
      const waits = (needed: number, sinceMs: number) => ({ sinceMs, first: needed, least: needed, all: needed });
      const { nowMs } = await claim("a", 1, { held: 30 }, true);
      await claim("b", 1, { held: 30 });
      await claim("c", 1, { held: 30 });
      // Both need more than a third, and there is enough for one of them.
      const ofA = waits(80, nowMs + 1);
      const ofB = waits(80, nowMs + 2);
      expect((await claim("b", 2, { held: 30, waits: ofB })).held).toEqual([30]);
      expect((await claim("a", 2, { held: 30, waits: ofA })).held).toEqual([30]);
      const levelOf = ({ wanted }: SyncAnswer) => wanted[0]?.level ?? Number.POSITIVE_INFINITY;
      const levels = [
        levelOf(await claim("b", 3, { held: 30, waits: ofB })),
        levelOf(await claim("c", 2, { held: 30 })),
      ];
      const [b = 0, c = 0] = levels;
      expect(b + c).toBeWithin(8, 11);
      expect((await claim("b", 4, { held: b, waits: ofB })).held).toEqual([b]);
      expect((await claim("c", 3, { held: c })).held).toEqual([c]);
      expect((await claim("a", 3, { held: 30, waits: ofA })).held).toEqual([80]);
      // The call for which there is too little does not block a third.
      await claim("a", 4, { held: 80, used: 80 });
      const ofD = waits(10, nowMs + 3);
      await claim("d", 1, { waits: ofD });
      await claim("b", 5, { held: b, waits: ofB });
      for (const [id, held] of [
        ["b", b],
        ["c", c],
      ] as const) {
        if (held > 0) expect((await claim(id, 6, { held })).wanted).toEqual([{ window: "w", level: 0 }]);
      }
      await claim("b", 7, { held: 0, waits: ofB });
      await claim("c", 7, { held: 0 });
      expect((await claim("d", 2, { waits: ofD })).held).toEqual([10]);
    });

    test("while it is not known what was spent of a budget, nobody gives back what it holds", async () => {
      const claim = claimAt(worldOf(120), { window: "w", kind: "budget", limit: 100, held: 0, used: 0 });
      expect((await claim("a", 1, { held: 50 }, true)).unknown).toEqual(["w"]);
      expect((await claim("b", 1, { wants: "share" })).unknown).toEqual(["w"]);
      expect(await claim("a", 2, { held: 50 })).toMatchObject({ held: [50], wanted: [] });
      expect((await claim("b", 2, { wants: "share", spent: {} })).held).toEqual([50]);
    });

    test("what a call needs is taken from as few instances as possible", async () => {
      const claim = claimAt(worldOf(119), { window: "w", kind: "rate", limit: 80, held: 20, used: 0 });
      const holders = ["a", "b", "c", "d"];
      for (const [index, id] of holders.entries()) await claim(id, 1, {}, index === 0);
      const { nowMs } = await claim("a", 2, {});
      await claim("e", 1, { held: 0, waits: { sinceMs: nowMs, first: 5, least: 5, all: 5 } });
      const told: unknown[] = [];
      for (const id of holders) told.push(...(await claim(id, 3, {})).wanted);
      expect(told).toEqual([{ window: "w", level: 15 }]);
    });

    test("a call runs alone if its instance holds all that is left, and no other has reserved any", async () => {
      const claim = claimAt(worldOf(118), { window: "w", kind: "budget", limit: 100, held: 0, used: 0 });
      const waits = { sinceMs: 0, first: 500, least: 500, all: 500, alone: 10 };
      await claim("a", 1, { held: 50, spent: {} }, true);
      await claim("b", 1, { held: 50 });
      expect(await claim("b", 2, { held: 50, used: 20, reserved: 20, waits })).toMatchObject({ held: [50], alone: [] });
      expect((await claim("a", 2, { held: 50, used: 20 })).wanted).toMatchObject([{ window: "w" }]);
      // Its own reservation has ended.
      expect((await claim("b", 3, { held: 50, used: 20, waits })).alone).toEqual([]);
      expect((await claim("a", 3, { held: 50, used: 20 })).wanted).toEqual([{ window: "w", level: 20 }]);
      await claim("a", 4, { held: 20, used: 20 });
      expect(await claim("b", 4, { held: 50, used: 20, waits })).toMatchObject({ held: [80], alone: ["w"] });
      // Once it runs nothing is left for others, however much it may cost.
      await claim("b", 5, { held: 520, used: 520, reserved: 500 });
      const small = { sinceMs: 0, first: 1, least: 1, all: 1 };
      expect((await claim("a", 5, { held: 20, used: 20, waits: small })).left).toEqual([0]);
    });

    test("an instance's spending counts once, even if an empty source learns of it first from the ledger", async () => {
      const world = worldOf(114);
      const claim = claimAt(world, { window: "w", kind: "budget", limit: 100, held: 0, used: 0 });
      expect((await claim("a", 1, { held: 30, used: 30 })).unknown).toEqual(["w"]);
      expect((await claim("a", 2, { held: 30, used: 30, spent: { a: 30, b: 20 } })).held).toEqual([30]);
      expect((await claim("b", 1, { held: 20, used: 20 })).held).toEqual([20]);
      await world.pass(LEASE_MS + 10);
      await claim("b", 2, { held: 20, used: 20 });
      expect((await claim("a", 3, { held: 30, used: 30, wants: 100 })).held).toEqual([80]);
    });

    test("a budget is used up, and not exceeded, by instances that die and return", async () => {
      const world = worldOf(103);
      for (let count = 0; count < 3; count++) await world.start();
      const spend = () => world.random.pick(world.living).call(COST, 20);
      await world.pass(500, spend);
      world.living[0]?.kill();
      await world.start();
      await world.pass(80_000, () => {
        if (world.random.chance(0.05)) spend();
      });
      await world.pass(62_000);
      await world.pass(20_000, () => void (world.random.chance(0.05) && spend()));
      expect(world.broken).toEqual([]);
      const spent = [...world.ledger.values()].reduce((sum, one) => sum + one, 0);
      expect(spent).toBeLessThanOrEqual(LIMITS.budget);
      // Calls cost half of their reservation, on average.
      expect(spent).toBeGreaterThan(0.3 * LIMITS.budget);
    });

    test.each([500, LEASE_MS + 500, 20_000])(
      "the replacement of an instance killed %d ms ago starts with a share of every limit, and refuses no call",
      async (downMs) => {
        const world = worldOf(116);
        const stays = await world.start();
        const dies = await world.start();
        let steps = 0;
        const twiceASecond = (instances: typeof world.instances) => () => {
          if (++steps % 100 === 0) for (const instance of instances) instance.call(COST, 25);
        };
        await world.pass(3_000, twiceASecond([stays, dies]));
        dies.kill();
        await world.pass(downMs, twiceASecond([stays]));
        let started: typeof stays | undefined;
        const starting = world.start(dies.folder).then((instance) => {
          started = instance;
        });
        while (started === undefined) await world.pass(5, twiceASecond([stays]));
        await starting;
        for (const name of ["rate", "slots", "budget"] as const)
          expect(started.mayUse(name)).toBeGreaterThan(LIMITS[name] / 8);
        await world.pass(3_000, twiceASecond([stays, started]));
        expect(world.refused).toBe(0);
        expect(world.broken).toEqual([]);
      },
    );

    test("what a dead instance has only in its journal counts as spent, until one with its folder has read it", async () => {
      const world = worldOf(114);
      const first = await world.start();
      await world.start();
      const costly = () => world.random.pick(world.living).call(LIMITS.budget / 20, 20);
      world.losesStore();
      while (first.spent < LIMITS.budget / 4) await world.pass(50, () => first.call(LIMITS.budget / 20, 20));
      // So that the source has heard of it.
      await world.pass(200);
      first.kill();
      await world.pass(LEASE_MS * 2);
      world.findsStore();
      for (let round = 0; round < 10; round++)
        await world.pass(2_000, () => void (world.random.chance(0.02) && costly()));
      expect(world.broken).toEqual([]);
      expect(world.journals.size).toBe(1);
      await world.start(first.folder);
      await world.pass(62_000);
      expect(world.journals.size).toBe(0);
      for (let round = 0; round < 20; round++)
        await world.pass(2_000, () => void (world.random.chance(0.05) && costly()));
      expect(world.broken).toEqual([]);
      // What was not spent has been returned.
      const spent = world.ledger.values().reduce((sum, one) => sum + one, 0);
      expect([spent <= LIMITS.budget, spent > 0.9 * LIMITS.budget]).toEqual([true, true]);
    });

    test("while the source is unavailable an instance uses what it holds, then its equal share; together never more than the limit", async () => {
      const world = worldOf(104);
      for (let count = 0; count < 2; count++) await world.start();
      for (const instance of world.living) instance.isParted = true;
      await world.pass(LEASE_MS * 4, () => world.random.pick(world.living).call(0, 5));
      expect(world.broken).toEqual([]);
      expect(world.admitted).toBeGreaterThanOrEqual(0.98 * LIMITS.rate);
      expect(world.living.every(({ leases }) => leases.isParted && leases.trouble !== undefined)).toBe(true);
      for (const instance of world.living) instance.isParted = false;
      await world.pass(3_000);
      expect(world.living.some(({ leases }) => leases.isParted || leases.trouble !== undefined)).toBe(false);
      expect(world.broken).toEqual([]);
    });

    test("a source that was unavailable for longer than a lease and returns empty takes no share from anyone", async () => {
      const world = worldOf(113);
      for (let count = 0; count < 2; count++) await world.start();
      const calls = () => void (world.random.chance(0.04) && world.random.pick(world.living).call(COST, 5));
      await world.pass(2_000, calls);
      for (const instance of world.living) instance.isParted = true;
      await world.pass(LEASE_MS * 3, calls);
      await world.flush();
      for (const instance of world.living) instance.isParted = false;
      await world.pass(LEASE_MS * 2, calls);
      expect(world.admitted).toBeGreaterThan(20);
      expect([world.refused, world.broken]).toEqual([0, []]);
    });

    test("a single instance separated for longer than its lease uses at most an equal share beyond the limit", async () => {
      const world = worldOf(105);
      const first = await world.start();
      const second = await world.start();
      world.tolerance = 0.5;
      first.isParted = true;
      await world.pass(90_000, () => {
        first.call(0, 5);
        second.call(0, 5);
      });
      expect(world.broken).toEqual([]);
      first.isParted = false;
      await world.pass(65_000);
      world.tolerance = 0;
      await world.pass(65_000, () => void world.random.pick(world.living).call(0, 5));
      expect(world.broken).toEqual([]);
    });

    test("a message that arrives after a later one changes nothing", async () => {
      const { source: table } = worldOf(107);
      const say = async (instance: string, number: number, held: number, wants: number) => {
        const claim = { window: "slots", kind: "slots" as const, limit: 100, held, used: 0, wants };
        return await table.sync({
          instance,
          number,
          epoch: "",
          answered: 0,
          answeredAgoMs: 0,
          journals: "",
          isBehind: false,
          claims: [claim],
          reclaims: [],
          isFirst: true,
          dead: [],
          leaves: false,
          news: [],
          newsSeen: 0,
        });
      };
      expect((await say("one", 2, 90, 90)).held).toEqual([100]);
      await say("one", 1, 0, 0);
      expect((await say("two", 1, 0, 100)).held).toEqual([0]);
    });

    test("news reach every other instance once", async () => {
      const world = worldOf(106);
      const first = await world.start();
      const told: string[] = [];
      const second = await world.start();
      second.leases.onNews = (news) => told.push(news);
      first.leases.publish("one");
      first.leases.publish("two");
      await world.pass(500);
      expect(told).toEqual(["one", "two"]);
    });
  });
}

/** If the messages of a start are lost, it is repeated. */
async function joinInAnyWeather(world: LeaseWorld): Promise<void> {
  for (;;) {
    try {
      await world.start();
      return;
    } catch {
      world.instances.pop();
    }
  }
}

/** So that nothing is separated from the source for longer than a lease, which has its own test. */
async function calm(world: LeaseWorld): Promise<void> {
  const { weather } = world;
  world.weather = { lost: 0, late: 0 };
  await world.pass(1_500);
  world.weather = weather;
}

/** Claims one window at the source of a world, as an instance that does nothing else. */
const claimAt =
  (world: LeaseWorld, window: Claim) =>
  (
    instance: string,
    number: number,
    claimed: Partial<Claim>,
    isFirst = false,
    also: Partial<Sync> = {},
  ): Promise<SyncAnswer> =>
    world.source.sync({
      instance,
      number,
      epoch: "",
      answered: number - 1,
      // Any time ago.
      answeredAgoMs: 10 * LEASE_MS,
      journals: "",
      isBehind: false,
      claims: [{ ...window, ...claimed }],
      reclaims: [],
      isFirst,
      dead: [],
      leaves: false,
      news: [],
      newsSeen: 0,
      ...also,
    });
