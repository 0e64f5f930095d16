import { describe, expect, test } from "bun:test";
import { VirtualClock } from "../../../testing/virtual-clock.ts";
import { GatewayError } from "../../canon/error.ts";
import type { LeaseSource } from "../../leases/lease-source.ts";
import { LeaseTable } from "../../leases/lease-table.ts";
import { Leases } from "../../leases/leases.ts";
import { Admissions } from "../admit.ts";
import { readPartId } from "../level.ts";
import type { Limits } from "../limits.ts";
import type { Principal } from "../principal.ts";
import { SharedLimits } from "../shared-limits.ts";
import { readBudgetName } from "../shared-window.ts";
import type { Use } from "../spend-meter.ts";
import { partScopesOf } from "./part-limits.ts";

const START_MS = Date.UTC(2026, 0, 30, 23, 50);
const DAY_MS = 86_400_000;
const LEASE_MS = 10_000;

interface Row {
  instance: string;
  user: string;
  atMs: number;
  costNanoUsd: number;
}

interface Process {
  id: string;
  isAlive: boolean;
  admissions: Admissions;
}

const dayOf = (ms: number): number => Math.floor(ms / DAY_MS);

/** Numbers that are the same in each run of a seed. */
function randomOf(seed: number) {
  let state = seed;
  const next = () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
  return { next, between: (from: number, to: number) => from + Math.floor(next() * (to - from + 1)) };
}

/** Processes that share the limits of end users through one source, and write their receipts to one ledger. */
class World {
  readonly clock = new VirtualClock({ startMs: START_MS });
  readonly processes: Process[] = [];
  readonly ledger: Row[] = [];
  readonly broken: string[] = [];
  admitted = 0;
  refused = 0;
  /** The most that calls may have spent of each day. */
  readonly #spent = new Map<string, number>();
  readonly #requests = new Map<string, number>();
  readonly #times = new Map<string, number[]>();
  readonly #sources = new Map<string, LeaseSource>();
  readonly #principal: Principal;
  #epoch = 0;
  table: LeaseTable;
  /** The source does not answer. */
  isDown = false;

  constructor(readonly limits: Limits) {
    const parts = partScopesOf(
      { id: "key_1", name: "ci", partLimits: { endUsers: { limits } } },
      { gateway: undefined },
    );
    const key = { keyId: "key_1", keyName: "ci", project: "default", models: ["*"], limits: {}, levels: [] };
    this.#principal = { ...key, ...(parts && { parts }) };
    this.table = this.#emptyTable();
  }

  #emptyTable(): LeaseTable {
    return new LeaseTable({
      leaseMs: LEASE_MS,
      nowMs: this.clock.nowMs,
      epoch: () => `epoch_${++this.#epoch}`,
      onWanted: (instance) => this.clock.after(1, () => this.#sources.get(instance)?.onWanted?.()),
    });
  }

  get living(): Process[] {
    return this.processes.filter(({ isAlive }) => isAlive);
  }

  /** The source loses what it knows. */
  flush(): void {
    this.table = this.#emptyTable();
  }

  async start(): Promise<void> {
    const { clock } = this;
    const id = `instance_${this.processes.length}`;
    const isFirst = this.processes.length === 0;
    const source: LeaseSource = {
      sync: async (sync) => {
        await clock.sleep(2);
        if (!process.isAlive || this.isDown) return await new Promise<never>(() => {});
        const answer = this.table.sync(structuredClone(sync));
        await clock.sleep(2);
        return answer;
      },
      close: async () => {},
    };
    this.#sources.set(id, source);
    const spent = {
      ofWindows: async (names: readonly string[]) => {
        await clock.sleep(3);
        return new Map(names.map((name) => [name, Object.fromEntries(this.#sumsOf(name))]));
      },
      ofDead: async (instance: string, names: readonly string[]) => {
        await clock.sleep(3);
        return new Map(names.map((name) => [name, this.#sumsOf(name).get(instance) ?? 0]));
      },
    };
    const leases = new Leases({ source, clock, instance: id, leaseMs: LEASE_MS, isFirst, spent });
    const shared = new SharedLimits({ leases, clock });
    const admissions = new Admissions({
      ...clock,
      spent: () => 0,
      shareOf: shared.shareOf,
      endUsers: {
        store: {
          oldestMs: () => 0,
          read: async (wanted, asOfMs) => {
            await clock.sleep(3);
            return wanted.map(({ user }) => ({
              spent: this.#useOf(user, asOfMs),
              own: this.#useOf(user, asOfMs, id),
              limits: undefined,
            }));
          },
        },
        shareOf: shared.shareOfEndUser,
      },
    });
    const process: Process = { id, isAlive: true, admissions };
    this.processes.push(process);
    await clock.until(leases.start());
  }

  #useOf(user: string, asOfMs: number, instance?: string): Use {
    const rows = this.ledger.filter((row) => row.user === user && (instance ?? row.instance) === row.instance);
    const today = rows.filter(({ atMs }) => dayOf(atMs) >= dayOf(asOfMs));
    const sum = (some: readonly Row[]) => some.reduce((total, { costNanoUsd }) => total + costNanoUsd, 0);
    const total = sum(rows);
    return { day: sum(today), week: total, month: total, quarter: total, total, requests: today.length, tokens: 0 };
  }

  #sumsOf(name: string): Map<string, number> {
    const shared = readBudgetName(name);
    const user = readPartId(shared?.id ?? "")?.name;
    const sums = new Map<string, number>();
    for (const row of this.ledger) {
      if (shared === undefined || row.user !== user || row.atMs < shared.sinceMs || row.atMs >= shared.untilMs)
        continue;
      const amount = shared.limit === "requestsPerDay" ? 1 : row.costNanoUsd;
      sums.set(row.instance, (sums.get(row.instance) ?? 0) + amount);
    }
    return sums;
  }

  async call(process: Process, user: string, costNanoUsd: number, lastsMs: number): Promise<boolean> {
    const { admissions, id } = process;
    const { clock } = this;
    const entry = admissions.enter(this.#principal);
    try {
      const call = {
        model: "m",
        dialect: "chat",
        estimatedTokens: 0,
        estimatedCostNanoUsd: costNanoUsd,
        endUser: user,
      };
      const admission = await entry.admitShared(call);
      if (!process.isAlive) return false;
      this.admitted++;
      const { atMs } = admission;
      this.#begin(user, atMs, costNanoUsd);
      clock.after(lastsMs, () => {
        if (!process.isAlive) return this.#end(user, atMs, costNanoUsd, 0);
        const actual = Math.floor(costNanoUsd * 0.7);
        admission.release({ costNanoUsd: actual, tokens: 0, counted: { tokens: 0, calls: 1, model: "m" } });
        this.#end(user, atMs, costNanoUsd, actual);
        // The row is stored a little later, and counts even if the process dies in between.
        this.ledger.push({ instance: id, user, atMs, costNanoUsd: actual });
      });
      return true;
    } catch (refusal) {
      if (!(refusal instanceof GatewayError)) throw refusal;
      entry.leave();
      this.refused++;
      return false;
    }
  }

  #begin(user: string, atMs: number, costNanoUsd: number): void {
    const day = `${user} ${dayOf(atMs)}`;
    const spent = (this.#spent.get(day) ?? 0) + costNanoUsd;
    this.#spent.set(day, spent);
    const requests = (this.#requests.get(day) ?? 0) + 1;
    this.#requests.set(day, requests);
    const nowMs = this.clock.nowMs();
    const times = [...(this.#times.get(user) ?? []), nowMs].filter((ms) => ms > nowMs - 59_000);
    this.#times.set(user, times);
    const { budgetUsdPerDay, requestsPerDay, requestsPerMinute } = this.limits;
    if (budgetUsdPerDay !== undefined && spent > Math.round(budgetUsdPerDay * 1e9))
      this.broken.push(`${day}: ${spent} spent`);
    if (requestsPerDay !== undefined && requests > requestsPerDay) this.broken.push(`${day}: ${requests} requests`);
    if (requestsPerMinute !== undefined && times.length > requestsPerMinute)
      this.broken.push(`${user}: ${times.length} requests within a minute`);
  }

  #end(user: string, atMs: number, reserved: number, actual: number): void {
    const day = `${user} ${dayOf(atMs)}`;
    this.#spent.set(day, (this.#spent.get(day) ?? 0) - reserved + actual);
    // A call that dies with its process has no receipt.
    if (actual === 0 && reserved > 0) this.#requests.set(day, (this.#requests.get(day) ?? 1) - 1);
  }

  get inMemory(): number {
    return this.living.reduce((sum, { admissions }) => sum + admissions.endUsers.size, 0);
  }
}

describe("choices 9, H23: limits of end users that several processes share", () => {
  test.each([2, 3, 6])(
    "are never exceeded, while processes die and join, the source forgets, and end users leave memory and come back (%d)",
    async (seed) => {
      const random = randomOf(seed * 7_919);
      const world = new World({
        budgetUsdPerDay: random.between(5, 40) / 1e8,
        ...(seed % 2 === 0 && { requestsPerDay: random.between(5, 30) }),
        ...(seed % 3 === 0 && { requestsPerMinute: random.between(2, 8) }),
      });
      for (let count = 0; count < 3; count++) await world.start();
      for (let round = 0; round < 40; round++) {
        const what = random.next();
        if (what < 0.05 && world.living.length > 2) (world.living[0] as Process).isAlive = false;
        else if (what < 0.1 && world.living.length < 4) await world.start();
        else if (what < 0.13) world.flush();
        const calls: Promise<boolean>[] = [];
        for (let count = random.between(1, 12); count > 0; count--) {
          const { living } = world;
          const process = living[random.between(0, living.length - 1)];
          if (process === undefined) continue;
          const user = `user-${random.between(0, 3)}`;
          calls.push(world.call(process, user, random.between(1, 60), random.between(1, 2_000)));
          if (random.next() < 0.3) await world.clock.pass(random.between(1, 40));
        }
        await world.clock.until(Promise.all(calls));
        await world.clock.pass(random.next() < 0.3 ? random.between(130_000, 200_000) : random.between(5, 3_000));
      }
      expect(world.broken).toEqual([]);
      expect(world.admitted).toBeGreaterThan(20);
      expect(world.refused).toBeGreaterThan(0);
    },
    60_000,
  );

  test("calls by one end user on three processes at once use the whole limit and no more", async () => {
    const world = new World({ requestsPerDay: 10 });
    for (let count = 0; count < 3; count++) await world.start();
    const calls = Array.from({ length: 60 }, (_, at) => world.call(world.processes[at % 3] as Process, "ann", 0, 50));
    const results = await world.clock.until(Promise.all(calls));
    expect(results.filter((isAdmitted) => isAdmitted).length).toBe(10);
    expect(world.broken).toEqual([]);
  });

  test("the first call of an end user waits for the ledger and the source, not for the pace of messages", async () => {
    const world = new World({ requestsPerDay: 100, budgetUsdPerDay: 5 });
    for (let count = 0; count < 3; count++) await world.start();
    await world.clock.pass(1_000);
    const sinceMs = world.clock.nowMs();
    expect(await world.clock.until(world.call(world.processes[0] as Process, "ann", 10, 10))).toBe(true);
    // Two reads of the ledger at 3 ms, and two messages at 4 ms, with a pause before each.
    expect(world.clock.nowMs() - sinceMs).toBeLessThan(22);
  });

  test("without the source, an end user who comes into memory gets an equal share of what is left", async () => {
    const world = new World({ requestsPerDay: 100 });
    for (let count = 0; count < 3; count++) await world.start();
    for (let count = 0; count < 40; count++)
      world.ledger.push({ instance: "instance_before", user: "ann", atMs: START_MS, costNanoUsd: 0 });
    // All of them know how many they are.
    await world.clock.pass(1_000);
    world.isDown = true;
    await world.clock.pass(LEASE_MS + 2_000);
    const calls = Array.from({ length: 300 }, (_, at) => world.call(world.processes[at % 3] as Process, "ann", 0, 50));
    const results = await world.clock.until(Promise.all(calls));
    expect(results.filter((isAdmitted) => isAdmitted).length).toBe(60);
  });

  test("the source forgets an end user that no process has in memory, and the ledger's sums come back with it", async () => {
    const world = new World({ budgetUsdPerDay: 1e-7, requestsPerMinute: 50 });
    for (let count = 0; count < 3; count++) await world.start();
    const [first, second, third] = world.processes as [Process, Process, Process];
    for (const process of [first, second, third])
      for (let count = 0; count < 2; count++) await world.clock.until(world.call(process, "ann", 20, 10));
    await world.clock.pass(400_000);
    for (const { admissions } of world.processes) admissions.endUsers.sweep(world.clock.nowMs());
    await world.clock.pass(2_000);
    expect([world.inMemory, world.table.windows]).toEqual([0, 0]);
    // 5 of 100 nano-dollars were not used: 6 × 14 = 84 are spent.
    expect(await world.clock.until(world.call(second, "ann", 17, 10))).toBe(false);
    expect(await world.clock.until(world.call(third, "ann", 16, 10))).toBe(true);
    expect(world.broken).toEqual([]);
  });
});
