import { openMemoryStorage } from "../../testing/memory-storage.ts";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import type { GatewayError } from "../canon/error.ts";
import type { Operation, OperationPart } from "../canon/operation.ts";
import type { Receipt } from "../canon/receipt.ts";
import type { Storage } from "../storage/storage.ts";
import { insertOperation, selectOperation } from "../storage/tables/operations.ts";
import { Operations } from "./operations.ts";
import { type JobRunner, OperationPoller } from "./poller.ts";
import { Reservations } from "./reservations.ts";
import { Settlement } from "./settlement.ts";

export const LEASE_MS = 60_000;
export const KEPT_MS = 3_600_000;
export const POLL_MS = 10_000;
/** Five seconds at the sample's price. */
export const COST_NANO_USD = 50_000_000;

export const WAITING: OperationPart = {
  state: "waiting",
  providerJob: { id: "job" },
  count: 1,
  dueAtMs: 0,
  failures: 0,
  videos: [],
  filtered: [],
};

export const waitingPart = (changes: Partial<OperationPart> = {}): OperationPart => ({
  ...structuredClone(WAITING),
  ...changes,
});

export const KEPT = { file: "file_1", mimeType: "video/mp4" };
export const LINK = { url: "/video", mimeType: "video/mp4" };

/** A storage and a clock, for one process after the other, or several at once. */
export class Bench {
  readonly clock: VirtualClock;
  readonly storage: Storage;

  private constructor(clock: VirtualClock, storage: Storage) {
    this.clock = clock;
    this.storage = storage;
  }

  static async open(): Promise<Bench> {
    const clock = new VirtualClock();
    return new Bench(clock, await openMemoryStorage(clock));
  }

  get nowMs(): number {
    return this.clock.nowMs();
  }

  /** An operation of one video whose job is running. */
  operation(changes: Partial<Operation> = {}): Operation {
    const price = { value: 0.01, unit: "perSecond", currency: "USD" };
    return {
      id: "operation_1",
      project: "default",
      keyId: "key_1",
      receiptId: "rcp_1",
      model: "acme/video",
      provider: "acme",
      credential: "digest",
      state: "running",
      job: {
        upstreamModel: "video",
        count: 1,
        seconds: 5,
        resolution: "720p",
        audio: false,
        pricings: { video: [price] },
        notes: [],
        offers: [],
      },
      parts: [waitingPart()],
      requestDigest: "request",
      claimed: true,
      createdAtMs: this.nowMs,
      deadlineAtMs: this.nowMs + 3 * 3_600_000,
      dueAtMs: this.nowMs,
      ...changes,
    };
  }

  /** Stores an operation that no process works on. */
  async add(changes: Partial<Operation> = {}): Promise<Operation> {
    const operation = this.operation(changes);
    await insertOperation(this.storage, operation, { owner: "none", untilMs: 0 });
    return operation;
  }

  async read(id = "operation_1"): Promise<Operation> {
    const operation = await selectOperation(this.storage, "default", id);
    if (operation === undefined) throw new Error(`there is no operation ${id}`);
    return operation;
  }

  /** Lets time pass until the operation has ended. */
  async ended(id?: string): Promise<Operation> {
    for (let steps = 0; steps < 100_000; steps++) {
      const operation = await this.read(id);
      if (operation.endedAtMs !== undefined) return operation;
      await this.clock.pass(2_000);
    }
    throw new Error("it does not end");
  }

  process(owner = "process", runner: Partial<JobRunner> = {}): SampleProcess {
    return new SampleProcess(this, owner, runner);
  }
}

/** The operations of one process, with the budget's view of them. */
export class SampleProcess {
  readonly budget = { reserved: 0, spent: 0 };
  readonly problems: unknown[] = [];
  readonly unkept: { id: string; error: GatewayError }[] = [];
  readonly receipts: Receipt[] = [];
  readonly reservations: Reservations;
  readonly settlement: Settlement;
  readonly poller: OperationPoller;
  readonly operations: Operations;
  wakes = 0;

  constructor({ clock, storage }: Bench, owner: string, runner: Partial<JobRunner>) {
    this.reservations = new Reservations((_owner, costNanoUsd) => {
      this.budget.reserved += costNanoUsd;
      return (actualNanoUsd) => {
        this.budget.reserved -= costNanoUsd;
        this.budget.spent += actualNanoUsd;
      };
    });
    this.settlement = new Settlement({
      instance: "instance_1",
      storage,
      nowMs: clock.nowMs,
      keptMs: KEPT_MS,
      onSettled: (operation, costNanoUsd) => this.reservations.settle(operation, costNanoUsd),
      onEnded: (receipt) => this.receipts.push(receipt),
      held: () => this.reservations.held,
    });
    this.poller = new OperationPoller({
      storage,
      runner: {
        poll: async () => ({ state: "done", reply: { videos: [LINK], filtered: [] } }),
        pollIntervalMs: () => POLL_MS,
        keep: async () => KEPT,
        ...runner,
      },
      settlement: this.settlement,
      owner,
      clock,
      leaseMs: LEASE_MS,
      onProblem: (error) => this.problems.push(error),
      onUnkept: ({ id }, error) => this.unkept.push({ id, error }),
    });
    this.operations = new Operations({
      storage,
      settlement: this.settlement,
      poller: { wake: () => void this.wakes++ },
      owner,
      clock,
      leaseMs: LEASE_MS,
      keptMs: KEPT_MS,
      reserve: (operation, costNanoUsd) => this.reservations.add(operation, costNanoUsd),
    });
  }
}
