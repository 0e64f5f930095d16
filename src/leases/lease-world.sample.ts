import { SeededRandom } from "../../simulation/seeded-random.ts";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { RateWindow } from "../access/rate-window.ts";
import type { Clock } from "../base/clock.ts";
import type { LeaseSource, Sync, SyncAnswer } from "./lease-source.ts";
import type { LeasedWindow } from "./leased-window.ts";
import { Leases } from "./leases.ts";

export const LIMITS = { rate: 300, slots: 40, budget: 1_000_000_007 } as const;
const NAMES = ["rate", "slots", "budget"] as const;
/** In whole seconds: of a minute that began within one, 59 seconds are certain. */
const CERTAIN_MS = 59_000;
export const LEASE_MS = 5_000;

/** What happens to messages. */
export interface Weather {
  /** The share of lost requests and answers. */
  lost: number;
  /** The share that arrives after the sender has given up. */
  late: number;
}

/** The source of a test's leases, and how to make it forget. */
export interface TestSource {
  sync(sync: Sync): Promise<SyncAnswer>;
  flush(): Promise<void>;
}

interface Call {
  costNanoUsd: number;
  endsAtMs: number;
}

/** Several instances that share limits, on one simulated clock, with everything between them that can go wrong. */
export class LeaseWorld {
  readonly clock = new VirtualClock({ turns: 1 });
  readonly random: SeededRandom;
  readonly source: TestSource;
  readonly instances: LeaseInstance[] = [];
  readonly ledger = new Map<string, number>();
  /** What is only in journals, by folder and instance. */
  readonly journals = new Map<string, number>();
  isStoreAway = false;
  weather: Weather = { lost: 0, late: 0 };
  admitted = 0;
  refused = 0;
  broken: string[] = [];
  /** What may be used beyond each limit: only if the test separates an instance for long. */
  tolerance = 0;
  #started = 0;
  /** The source has not been heard of since it lost its state. */
  #isEmpty = false;
  readonly #admittedAtMs: number[] = [];
  readonly #pending = new Set<Promise<unknown>>();

  constructor(seed: number, source: (clock: Clock) => TestSource) {
    this.random = new SeededRandom(seed);
    this.source = source(this.clock);
  }

  get living(): LeaseInstance[] {
    return this.instances.filter(({ isAlive }) => isAlive);
  }

  async flush(): Promise<void> {
    await this.source.flush();
    this.#isEmpty = true;
  }

  /** From now on receipts go to the journals of their instances. */
  losesStore(): void {
    this.isStoreAway = true;
  }

  /** Live instances store what they have in their journals. */
  findsStore(): void {
    this.isStoreAway = false;
    for (const { id, folder } of this.living) this.#recover(folder, id);
  }

  #recover(folder: string, instance: string): void {
    const name = `${folder} ${instance}`;
    const nanoUsd = this.journals.get(name) ?? 0;
    this.journals.delete(name);
    this.ledger.set(instance, (this.ledger.get(instance) ?? 0) + nanoUsd);
  }

  /** What the ledger shows of a dead instance, for one that has read the journals in its own folder. */
  async spentBy(dead: string, folder: string): Promise<number> {
    if (this.isStoreAway) throw new Error("the store is unavailable");
    this.#recover(folder, dead);
    return this.ledger.get(dead) ?? 0;
  }

  /** `folder`: of the instance that it replaces. */
  async start(folder?: string): Promise<LeaseInstance> {
    // If all instances and the source have lost their state, nothing knows of the last minute.
    if (this.living.length === 0 && this.#isEmpty) this.#admittedAtMs.length = 0;
    const instance = new LeaseInstance(this, `instance_${++this.#started}`, this.living.length === 0, folder);
    this.instances.push(instance);
    await this.until(instance.leases.start());
    return instance;
  }

  /** Lets time pass; a real server answers in between. */
  async pass(ms: number, step = () => {}): Promise<void> {
    for (let passed = 0; passed < ms; passed += 5) {
      await Promise.all(this.#pending);
      await this.clock.pass(5);
      for (const instance of this.living) instance.endCalls();
      step();
      this.check();
    }
  }

  async until<Result>(work: Promise<Result>): Promise<Result> {
    let settled = false;
    const settle = () => {
      settled = true;
    };
    work.then(settle, settle);
    while (!settled) await this.pass(5);
    return work;
  }

  connect(instance: LeaseInstance): LeaseSource {
    const delay = () => this.random.between(0, 20);
    return {
      sync: async (sync) => {
        const isLost = instance.isParted || this.random.chance(this.weather.lost);
        const isLate = this.random.chance(this.weather.late);
        await this.clock.sleep(isLate ? this.random.between(1_000, 8_000) : delay());
        if (isLost) return never();
        // A copy, as on the wire: later changes by the sender are not visible.
        const asked = this.source.sync(JSON.parse(JSON.stringify(sync)) as Sync);
        this.#isEmpty = false;
        this.#pending.add(asked);
        const answer = await asked.finally(() => this.#pending.delete(asked));
        await this.clock.sleep(this.random.chance(this.weather.late) ? this.random.between(1_000, 8_000) : delay());
        return instance.isParted || this.random.chance(this.weather.lost) ? never() : answer;
      },
      close: async () => {},
    };
  }

  count(): void {
    this.admitted++;
    this.#admittedAtMs.push(this.clock.nowMs());
  }

  /** No limit is ever exceeded, whatever was lost: neither in use nor in what may be used. */
  check(): void {
    const nowMs = this.clock.nowMs();
    while ((this.#admittedAtMs[0] ?? nowMs) <= nowMs - CERTAIN_MS) this.#admittedAtMs.shift();
    const { living } = this;
    let spent = 0;
    for (const one of this.ledger.values()) spent += one;
    for (const one of this.journals.values()) spent += one;
    const used = {
      rate: this.#admittedAtMs.length,
      slots: living.reduce((sum, { calls }) => sum + calls.length, 0),
      budget: spent + living.reduce((sum, { reserved }) => sum + reserved, 0),
    };
    for (const name of NAMES) {
      if (used[name] > LIMITS[name] * (1 + this.tolerance)) this.#break(`${used[name]} of ${name} are used`);
      const held = living.reduce((sum, one) => sum + one.mayUse(name), 0);
      const others = name === "budget" ? spent - living.reduce((sum, { spent: own }) => sum + own, 0) : 0;
      if (this.tolerance === 0 && held + others > LIMITS[name])
        this.#break(`${held} and ${others} of ${name} are held`);
    }
  }

  #break(what: string): void {
    if (this.broken.length < 5) this.broken.push(`${this.clock.passedMs} ms: ${what} of a limit`);
  }
}

const never = <T>(): Promise<T> => new Promise<T>(() => {});

/** One gateway, as far as its limits are concerned. */
class LeaseInstance {
  readonly id: string;
  readonly folder: string;
  readonly leases: Leases;
  readonly #world: LeaseWorld;
  readonly #rate = new RateWindow();
  readonly #windows: Readonly<Record<(typeof NAMES)[number], LeasedWindow>>;
  calls: Call[] = [];
  spent = 0;
  reserved = 0;
  isAlive = true;
  isParted = false;

  constructor(world: LeaseWorld, id: string, isFirst: boolean, folder = `journals of ${id}`) {
    this.#world = world;
    this.id = id;
    this.folder = folder;
    this.leases = new Leases({
      source: world.connect(this),
      clock: world.clock,
      instance: id,
      leaseMs: LEASE_MS,
      isFirst,
      spent: {
        ofWindows: async (windows) => new Map(windows.map((name) => [name, Object.fromEntries(world.ledger)])),
        ofDead: async (dead, windows) => {
          const spent = await world.spentBy(dead, this.folder);
          return new Map(windows.map((name) => [name, spent]));
        },
      },
      journal: { folder: this.folder, isBehind: () => world.journals.has(this.#journal) },
    });
    const make = (name: (typeof NAMES)[number], inUse: (nowMs: number) => number) =>
      this.leases.window({ name, kind: name, limit: LIMITS[name], inUse });
    this.#windows = {
      rate: make("rate", (nowMs) => this.#rate.used(nowMs)),
      slots: make("slots", () => this.calls.length),
      budget: make("budget", () => this.spent + this.reserved),
    };
  }

  /** A call found too little. */
  short(name: (typeof NAMES)[number]): void {
    this.#windows[name].short(LIMITS[name]);
  }

  /** What it may use, or has used. */
  mayUse(name: (typeof NAMES)[number]): number {
    const nowMs = this.#world.clock.nowMs();
    return Math.max(this.#windows[name].heldAt(nowMs), this.#inUse(name));
  }

  #inUse(name: (typeof NAMES)[number]): number {
    if (name === "rate") return this.#rate.used(this.#world.clock.nowMs());
    return name === "slots" ? this.calls.length : this.spent + this.reserved;
  }

  /** Admits or refuses a call at once, as the gateway does. */
  call(costNanoUsd: number, tookMs: number): boolean {
    const nowMs = this.#world.clock.nowMs();
    const needs = { rate: 1, slots: 1, budget: costNanoUsd };
    for (const name of NAMES) {
      this.#windows[name].noteCall(nowMs);
      if (this.#inUse(name) + needs[name] <= this.#windows[name].heldAt(nowMs)) continue;
      this.#windows[name].short(needs[name]);
      this.#world.refused++;
      return false;
    }
    this.#rate.add(nowMs, 1);
    this.reserved += costNanoUsd;
    this.calls.push({ costNanoUsd, endsAtMs: nowMs + tookMs });
    this.#world.count();
    return true;
  }

  endCalls(): void {
    const nowMs = this.#world.clock.nowMs();
    const ended = this.calls.filter(({ endsAtMs }) => endsAtMs <= nowMs);
    if (ended.length === 0) return;
    this.calls = this.calls.filter(({ endsAtMs }) => endsAtMs > nowMs);
    for (const { costNanoUsd } of ended) {
      this.reserved -= costNanoUsd;
      this.#spend(this.#world.random.between(0, costNanoUsd));
    }
  }

  /** Like SIGKILL: its calls are gone, and the ledger has what it has spent. */
  kill(): void {
    this.isAlive = false;
    this.isParted = true;
    this.calls = [];
  }

  async leave(): Promise<void> {
    while (this.calls.length > 0) await this.#world.pass(50);
    await this.#world.until(this.leases.stop());
    this.isAlive = false;
  }

  get #journal(): string {
    return `${this.folder} ${this.id}`;
  }

  #spend(nanoUsd: number): void {
    this.spent += nanoUsd;
    const { ledger, journals, isStoreAway } = this.#world;
    if (!isStoreAway) {
      ledger.set(this.id, (ledger.get(this.id) ?? 0) + nanoUsd);
      return;
    }
    if (!journals.has(this.#journal)) this.leases.tellBehind();
    journals.set(this.#journal, (journals.get(this.#journal) ?? 0) + nanoUsd);
  }
}
