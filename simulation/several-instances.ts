import { instanceSpending } from "../src/app/instance-spending.ts";
import type { Clock } from "../src/base/clock.ts";
import type { Config } from "../src/config/config.ts";
import type { LeaseSource, Sync } from "../src/leases/lease-source.ts";
import { LeaseTable } from "../src/leases/lease-table.ts";
import { Leases } from "../src/leases/leases.ts";
import { DEFAULT_TIMINGS } from "../src/relay/settle/timings.ts";
import type { Storage } from "../src/storage/storage.ts";
import { insertInstance } from "../src/storage/tables/instances.ts";
import { MemoryFileStore } from "../testing/memory-file-store.ts";
import { openMemoryStorage } from "../testing/memory-storage.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import type { CallBook } from "./book.ts";
import { SimulatedClient } from "./client.ts";
import { KEYS } from "./configuration.ts";
import { drawScenario } from "./draw-scenario.ts";
import { FaultyStorage } from "./faulty-storage.ts";
import { KeptJournals } from "./kept-journals.ts";
import { LimitWatch } from "./limits.ts";
import { SimulatedProviders } from "./providers.ts";
import type { CallPlan } from "./scenario.ts";
import { SeededRandom } from "./seeded-random.ts";
import { SimulatedProcess, type Surroundings } from "./simulated-process.ts";
import { Trace } from "./trace.ts";

const INSTANCES = 3;
const CALLS = 600;
const SHARE_OF_KEY = { rated: 6, narrow: 3, poor: 4, bound: 3 };
const DAY_MS = 86_400_000;
const { limitLeaseMs: LEASE_MS } = DEFAULT_TIMINGS;

interface SeveralResult {
  violations: readonly string[];
  /** How calls ended, by status. */
  statuses: Readonly<Record<number, number>>;
  /** Admitted requests of the key with a rate limit. */
  rated: number;
  kills: number;
  /** How often the clock of an instance was set. */
  clocksSet: number;
}

/** Runs calls against several instances that share limits, with a lease source that loses messages and forgets. */
export async function runSeveral(seed: number, config: Config, isRough: boolean): Promise<SeveralResult> {
  const clock = new VirtualClock({ turns: 1 });
  const storage = await openMemoryStorage(clock);
  try {
    return await new SeveralInstances(seed, config, isRough, clock, storage).play();
  } finally {
    await storage.close();
  }
}

class SeveralInstances {
  readonly #seed: number;
  readonly #isRough: boolean;
  readonly #clock: VirtualClock;
  readonly #storage: Storage;
  readonly #random: SeededRandom;
  readonly #providers: SimulatedProviders;
  readonly #limits: LimitWatch;
  readonly #surroundings: Surroundings;
  readonly #violations: string[] = [];
  readonly #books = new Map<number, CallBook>();
  readonly #clients = new Set<SimulatedClient>();
  readonly #statuses: Record<number, number> = {};
  #table: LeaseTable;
  #epochs = 0;
  #processes: SimulatedProcess[] = [];
  #started = 0;
  #kills = 0;
  #clocksSet = 0;
  #rated = 0;

  constructor(seed: number, config: Config, isRough: boolean, clock: VirtualClock, storage: Storage) {
    this.#seed = seed;
    this.#isRough = isRough;
    this.#clock = clock;
    this.#storage = storage;
    this.#random = new SeededRandom(seed);
    this.#table = this.#makeTable();
    this.#limits = new LimitWatch((rule, what) => this.#violations.push(`${rule}: ${what}`));
    this.#providers = new SimulatedProviders({
      clock,
      trace: new Trace(() => clock.passedMs, false),
      bookOf: (id) => this.#books.get(id),
      onAsked: (book) => this.#asked(book),
      onViolation: (rule, what) => this.#violations.push(`${rule}: ${what}`),
    });
    const journals = new KeptJournals();
    this.#surroundings = {
      config,
      clock,
      store: new FaultyStorage(storage, clock),
      fileStore: new MemoryFileStore(clock.wallMs),
      journals,
      send: (request) => this.#providers.send(request),
      onSettled: () => {},
      onInternal: (what) => this.#violations.push(`the gateway has no internal errors: ${what}`),
      leases: (instance, processClock) => this.#lease(instance, processClock, () => journals.recover(storage)),
    };
  }

  async play(): Promise<SeveralResult> {
    for (let count = 0; count < INSTANCES; count++) await this.#clock.until(this.#start());
    const { steps } = drawScenario({ seed: this.#seed, calls: CALLS, shareOfKey: SHARE_OF_KEY });
    let atMs = 0;
    for (const step of steps) {
      if (step.kind !== "call") continue;
      await this.#clock.pass(Math.max(0, (step.atMs - atMs) / 2));
      atMs = step.atMs;
      if (this.#isRough) await this.#disturb();
      this.#call(step.call);
    }
    await this.#clock.pass(700_000);
    await this.#checkLedger();
    for (const process of this.#processes) process.kill();
    return {
      violations: this.#violations,
      statuses: this.#statuses,
      rated: this.#rated,
      kills: this.#kills,
      clocksSet: this.#clocksSet,
    };
  }

  #makeTable(): LeaseTable {
    const epoch = () => `epoch ${++this.#epochs}`;
    return new LeaseTable({ leaseMs: LEASE_MS, nowMs: this.#clock.nowMs, epoch });
  }

  async #disturb(): Promise<void> {
    if (this.#random.chance(1 / 150)) this.#table = this.#makeTable();
    if (this.#random.chance(1 / 60)) this.#setClock(this.#random.pick(this.#processes));
    if (!this.#random.chance(1 / 120)) return;
    const victim = this.#random.pick(this.#processes);
    this.#kills++;
    this.#processes = this.#processes.filter((process) => process !== victim);
    victim.kill();
    this.#providers.cutProcess(victim.number);
    for (const client of [...this.#clients]) if (client.book.process === victim.number) client.cut();
    await this.#clock.until(this.#start());
  }

  /** By minutes to days, forward or back: a clock may return to a previous day. */
  #setClock({ clock }: SimulatedProcess): void {
    const HOUR_MS = 3_600_000;
    const byMs = this.#random.pick([-30 * HOUR_MS, -24 * HOUR_MS, -HOUR_MS, -60_000, 60_000, HOUR_MS, 24 * HOUR_MS]);
    clock.stepWall(byMs);
    this.#clocksSet++;
  }

  async #start(): Promise<void> {
    const number = this.#started++;
    const self = {
      id: `instance_${number}`,
      place: "here",
      process: "",
      startedAtMs: this.#clock.wallMs(),
      shares: "table",
    };
    await insertInstance(this.#storage, self);
    try {
      this.#processes.push(await SimulatedProcess.start(this.#seed, number, this.#surroundings));
    } catch (error) {
      // Every message of its start was lost: it exits and is started again.
      if (!String(error).includes("did not answer")) throw error;
      await this.#start();
    }
  }

  #lease(instance: string, clock: Clock, recover: () => Promise<void>): Leases {
    const spent = instanceSpending({ storage: this.#storage, recover });
    const isFirst = instance === "instance_0";
    return new Leases({ source: this.#source(clock), clock, instance, leaseMs: LEASE_MS, isFirst, spent });
  }

  /** Messages are lost on the way there or back, or arrive too late. */
  #source(clock: Clock): LeaseSource {
    const lost = () => this.#isRough && this.#random.chance(0.08);
    const delayMs = () =>
      this.#isRough && this.#random.chance(0.02) ? this.#random.between(1_000, 6_000) : this.#random.between(0, 20);
    const never = () => new Promise<never>(() => {});
    return {
      sync: async (sync: Sync) => {
        if (lost()) return never();
        await clock.sleep(delayMs());
        const answer = this.#table.sync(sync);
        await clock.sleep(delayMs());
        return lost() ? never() : answer;
      },
      close: async () => {},
    };
  }

  #call(plan: CallPlan): void {
    const process = this.#random.pick(this.#processes);
    const book: CallBook = {
      plan,
      process: process.number,
      sentAtMs: this.#clock.nowMs(),
      requestEnd: "",
      attempts: [],
      ending: undefined,
      endedAtMs: 0,
      status: 0,
      receiptId: undefined,
      text: "",
      toolArguments: undefined,
      isSettled: false,
      wasCrowded: false,
    };
    this.#books.set(plan.id, book);
    const client = new SimulatedClient(book, { clock: this.#clock, onEnd: () => this.#ended(client) });
    this.#clients.add(client);
    client.send(process);
  }

  #asked(book: CallBook): void {
    const { key } = book.plan;
    if (book.attempts.length === 1) {
      this.#limits.admitted(key, book.sentAtMs);
      if (key === "rated") this.#rated++;
    }
    this.#limits.underWay(key, () => this.#providers.callsUnderWay(key));
  }

  #ended(client: SimulatedClient): void {
    this.#clients.delete(client);
    const { status } = client.book;
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1;
  }

  async #checkLedger(): Promise<void> {
    // For each day that the clock of some instance has shown.
    const sums = `SELECT key_id, SUM(cost_nano_usd) AS spent FROM receipts GROUP BY key_id, created_at_ms / ${DAY_MS}`;
    for (const row of await this.#storage.query(sums)) {
      const key = String(row["key_id"]).replace("static:", "");
      if (KEYS[key] !== undefined) this.#limits.spent(key, Number(row["spent"]));
    }
  }
}
