import { Admissions } from "../src/access/admit.ts";
import { amountOf, measureOf } from "../src/access/budget.ts";
import type { Entry } from "../src/access/entries/entry.ts";
import { levelsOf } from "../src/access/level.ts";
import { LIMIT_NAMES, type LimitName, type Limits } from "../src/access/limits.ts";
import type { Principal } from "../src/access/principal.ts";
import { whenShared } from "../src/access/share-refusal.ts";
import { SharedLimits } from "../src/access/shared-limits.ts";
import { GatewayError } from "../src/canon/error.ts";
import type { LeaseSource } from "../src/leases/lease-source.ts";
import { LeaseTable } from "../src/leases/lease-table.ts";
import { Leases } from "../src/leases/leases.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import { SeededRandom } from "./seeded-random.ts";

const LEASE_MS = 10_000;
/** A dead instance's share is freed late by design: rates a minute after its lease ended. */
const QUIET_AFTER_DEATH_MS = LEASE_MS + 65_000;
/** How long several processes may refuse a call that one process would admit. */
const WITHIN_MS = 1_000;
const TICK_MS = 10;

/** A call and its outcome. */
export interface PlannedCall {
  /** Which of the keys calls; default: the first. */
  key?: number;
  /** Which of the live instances receives it. */
  at: number;
  tokens: number;
  costNanoUsd: number;
  /** The maximum cost, if the request sets no output limit. */
  maxCostNanoUsd?: number;
  lastsMs: number;
  /** The share of the reserved tokens and cost that is used in the end, from 0 to 1. */
  usedPart: number;
}

interface WorldOptions {
  seed: number;
  instances: number;
  /** Of each key. */
  limits: readonly Limits[];
  /** Whether the source can notify instances at once, as the first of several workers does. */
  tells: boolean;
  startMs?: number;
}

type Amounts = Partial<Record<LimitName, number>>;

interface Process {
  id: string;
  leases: Leases;
  admissions: Admissions;
  isAlive: boolean;
}

/** A key, and what all instances together left of each of its limits in the last second. */
interface WatchedKey {
  id: string;
  limits: Limits;
  principal: Principal;
  history: { atMs: number; left: Amounts }[];
  calledMs: number;
}

/** What reached the source of leases. */
interface Sent {
  messages: number;
  claims: number;
  /** Levels that instances were told to keep. */
  levels: number;
  /** How often an instance was asked to sync at once. */
  notified: number;
}

/**
 * Several instances that share the limits of keys, and an observer of all of them. The observer knows what one process
 * with the same calls would have left, which no instance knows.
 */
export class SharedWorld {
  readonly clock: VirtualClock;
  readonly random: SeededRandom;
  /** Limits that were exceeded, and calls refused although one process would have admitted them for a second. */
  readonly broken: string[] = [];
  admitted = 0;
  refused = 0;
  longestMs = 0;
  isSourceAway = false;
  readonly sent: Sent = { messages: 0, claims: 0, levels: 0, notified: 0 };
  readonly #keys: readonly WatchedKey[];
  /** Keys with calls in the last second. */
  readonly #active = new Set<WatchedKey>();
  readonly #tells: boolean;
  readonly #table: LeaseTable;
  readonly #sources = new Map<string, LeaseSource>();
  readonly #processes: Process[] = [];
  #quietUntilMs = 0;

  constructor({ seed, limits, tells, startMs }: Omit<WorldOptions, "instances">) {
    this.clock = new VirtualClock({ turns: 1, ...(startMs !== undefined && { startMs }) });
    this.random = new SeededRandom(seed);
    this.#tells = tells;
    const project = { id: "default", name: "default", limits: {} };
    this.#keys = limits.map((limits, index) => {
      const named = { id: `key_${index}`, name: `key ${index}`, limits };
      const one = { keyId: named.id, keyName: named.name, project: "default", models: ["*"], limits };
      const principal = { ...one, levels: levelsOf(named, { project, gateway: {} }) };
      return { id: named.id, limits, principal, history: [], calledMs: 0 };
    });
    this.#table = new LeaseTable({
      leaseMs: LEASE_MS,
      nowMs: this.clock.nowMs,
      epoch: () => "one",
      onWanted: (id) => {
        this.sent.notified++;
        if (this.#tells) this.clock.after(1, () => this.#sources.get(id)?.onWanted?.());
      },
    });
  }

  static async start({ instances, ...options }: WorldOptions): Promise<SharedWorld> {
    const world = new SharedWorld(options);
    while (world.living.length < instances) await world.join();
    await world.pass(500);
    return world;
  }

  /** Limits that the source of leases knows. */
  get windows(): number {
    return this.#table.windows;
  }

  get living(): readonly Process[] {
    return this.#processes.filter(({ isAlive }) => isAlive);
  }

  async join(): Promise<void> {
    const id = `instance_${this.#processes.length}`;
    const source: LeaseSource = {
      sync: async (sync) => {
        const asked = structuredClone(sync);
        await this.clock.sleep(this.random.between(0, 5));
        if (this.isSourceAway || !process.isAlive) return new Promise<never>(() => {});
        const answer = this.#table.sync(asked);
        this.sent.messages++;
        this.sent.claims += asked.claims.length;
        this.sent.levels += answer.wanted.length;
        await this.clock.sleep(this.random.between(0, 5));
        return answer;
      },
      close: async () => {},
    };
    this.#sources.set(id, source);
    const leases = new Leases({
      source,
      clock: this.clock,
      instance: id,
      leaseMs: LEASE_MS,
      isFirst: this.#processes.length === 0,
      spent: {
        ofWindows: async (windows) => new Map(windows.map((name) => [name, this.#ledger(name)])),
        ofDead: async (dead, windows) => new Map(windows.map((name) => [name, this.#ledger(name)[dead] ?? 0])),
      },
    });
    const shared = new SharedLimits({ leases, clock: this.clock });
    const admissions = new Admissions({ ...this.clock, spent: () => 0, shareOf: shared.shareOf });
    shared.track(
      this.#keys.flatMap(({ principal }) => principal.levels),
      admissions,
    );
    const process: Process = { id, leases, admissions, isAlive: true };
    this.#processes.push(process);
    await this.clock.until(leases.start());
  }

  /** Like SIGKILL. */
  kill(at: number): void {
    const victim = this.living[at % this.living.length];
    if (victim === undefined || this.living.length < 2) return;
    victim.isAlive = false;
    this.#quietUntilMs = this.clock.nowMs() + QUIET_AFTER_DEATH_MS;
  }

  async pass(ms: number): Promise<void> {
    const untilMs = this.clock.nowMs() + ms;
    while (this.clock.nowMs() < untilMs) {
      await this.clock.pass(Math.min(TICK_MS, untilMs - this.clock.nowMs()));
      this.#observeActive();
    }
  }

  /** What a key that nobody calls has left only grows. */
  #observeActive(): void {
    const nowMs = this.clock.nowMs();
    for (const key of this.#active) {
      if (nowMs - (key.history.at(-1)?.atMs ?? 0) >= TICK_MS) this.#observe(key);
      if (nowMs - key.calledMs > WITHIN_MS) this.#active.delete(key);
    }
  }

  /** Sends a call, which ends after its time. Returns whether it was admitted. */
  async call(planned: PlannedCall): Promise<boolean> {
    const { living, clock } = this;
    const process = living[planned.at % living.length];
    const key = this.#keys[planned.key ?? 0];
    if (process === undefined || key === undefined) throw new Error("no instance lives, or there is no such key");
    const beganMs = clock.nowMs();
    const enter = () => process.admissions.enter(key.principal);
    this.#active.add(key);
    key.calledMs = beganMs;
    let needs: Amounts = { concurrent: 1, requestsPerMinute: 1 };
    let entry: Entry | undefined;
    try {
      entry = await (async () => enter())().catch((refusal) => whenShared(refusal, enter, clock.nowMs));
      this.#observe(key);
      needs = needsOf(planned);
      const admission = await entry.admitShared({
        model: "m",
        dialect: "chat",
        estimatedTokens: planned.tokens,
        estimatedCostNanoUsd: planned.costNanoUsd,
        maxCostNanoUsd: planned.maxCostNanoUsd,
      });
      this.longestMs = Math.max(this.longestMs, clock.nowMs() - beganMs);
      this.admitted++;
      this.#observe(key);
      const used = (amount: number) => Math.round(amount * planned.usedPart);
      clock.after(planned.lastsMs, () => {
        if (!process.isAlive) return;
        admission.release({ costNanoUsd: used(planned.costNanoUsd), tokens: used(planned.tokens) });
      });
      return true;
    } catch (refusal) {
      if (!(refusal instanceof GatewayError)) throw refusal;
      entry?.leave();
      this.refused++;
      if (process.isAlive) this.#judge(key, needs, { beganMs, at: process.id, refusal });
      return false;
    }
  }

  /** What one process with the same calls would have left. */
  #left({ id, limits }: WatchedKey): Amounts {
    const nowMs = this.clock.nowMs();
    const left: Amounts = {};
    for (const name of LIMIT_NAMES) {
      const limit = limits[name];
      if (limit === undefined) continue;
      const budget = measureOf(name);
      let used = 0;
      for (const { admissions, isAlive } of this.#processes) {
        const account = admissions.account("key", id);
        if (isAlive) used += account.inUse(name, nowMs, this.clock.wallMs());
        else if (budget !== undefined) used += account.meter.own(budget, this.clock.wallMs());
        else if (name !== "concurrent") used += account.inUse(name, nowMs, this.clock.wallMs());
      }
      left[name] = amountOf(name, limit) - used;
    }
    return left;
  }

  #ledger(window: string): Record<string, number> {
    const spent: Record<string, number> = {};
    const key = window.slice(window.lastIndexOf(":") + 1);
    for (const { id, admissions } of this.#processes) {
      spent[id] = admissions.account("key", key).meter.own("total", this.clock.wallMs());
    }
    return spent;
  }

  #observe(key: WatchedKey): void {
    const atMs = this.clock.nowMs();
    const left = this.#left(key);
    for (const name of LIMIT_NAMES) {
      const amount = left[name];
      if (amount !== undefined && amount < 0) this.#break(`${name} of ${key.id} is exceeded by ${-amount}`);
    }
    key.history.push({ atMs, left });
    if (key.history.length > 2_000) key.history = key.history.filter((one) => one.atMs >= atMs - WITHIN_MS);
  }

  #judge(
    key: WatchedKey,
    needs: Amounts,
    { beganMs, at, refusal }: { beganMs: number; at: string; refusal: GatewayError },
  ): void {
    const nowMs = this.clock.nowMs();
    if (nowMs < this.#quietUntilMs || this.isSourceAway) return;
    const fits = ({ left }: { left: Amounts }) =>
      LIMIT_NAMES.every((name) => left[name] === undefined || (needs[name] ?? 0) <= (left[name] ?? 0));
    this.#observe(key);
    if (!key.history.filter(({ atMs }) => atMs >= nowMs - WITHIN_MS).every(fits)) return;
    this.#break(
      `${at} refused ${JSON.stringify(needs)} after ${nowMs - beganMs} ms with ${JSON.stringify(this.#left(key))} left: ${refusal.message}`,
    );
  }

  #break(what: string): void {
    if (this.broken.length < 5) this.broken.push(`${this.clock.passedMs} ms: ${what}`);
  }
}

const needsOf = ({ tokens, costNanoUsd, maxCostNanoUsd = costNanoUsd }: PlannedCall): Amounts => ({
  tokensPerMinute: tokens,
  // An exhausted budget also refuses a call that costs nothing.
  budgetUsdPerDay: Math.max(1, maxCostNanoUsd),
  budgetUsdPerMonth: Math.max(1, maxCostNanoUsd),
  budgetUsdTotal: Math.max(1, maxCostNanoUsd),
});
