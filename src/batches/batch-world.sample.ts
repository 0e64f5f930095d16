import { SeededIds } from "../../simulation/seeded-random.ts";
import { openMemoryStorage } from "../../testing/memory-storage.ts";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import type { Clock } from "../base/clock.ts";
import { RECEIPT_PREFIX, timePrefix } from "../base/timed-id.ts";
import type { ObjectContent } from "../objects/object-content.ts";
import { sampleReceipt } from "../storage/receipts/receipt.sample.ts";
import type { Storage } from "../storage/storage.ts";
import { countLines, insertLines, NO_LINES } from "../storage/tables/batch-lines.ts";
import { insertBatch } from "../storage/tables/batches.ts";
import { holdBatches, releaseHeldBatches } from "../storage/tables/held-batches.ts";
import { beat, deleteInstance } from "../storage/tables/instances.ts";
import { insertObject } from "../storage/tables/objects.ts";
import type { BatchForm } from "./batch-form.ts";
import { BatchRunner } from "./batch-runner.ts";
import { LinePace } from "./line-pace.ts";

export const LEASE_MS = 10_000;
export const COST = 100;
const MAX_CONCURRENT = 4;
const CALL_MS = 8_000;

const FORM: BatchForm = {
  customId: () => "",
  idField: "custom_id",
  problem: () => undefined,
  render: () => "{}",
  separatesErrors: false,
  failsByLine: false,
};
const CONTENT = {
  open: async () => new Blob(["{}".repeat(1_000)]).stream(),
  write: async () => ({ blob: "output", size: 0 }),
} as unknown as ObjectContent;

/** One gateway, as far as batches are concerned. */
export interface BatchProcess {
  id: string;
  runner: BatchRunner;
  clock: Clock;
  /** What it holds for each batch. */
  held: Map<string, number>;
  /** Like SIGKILL. `isKnown`: others know that it has died, as they do on the same machine. */
  kill(isKnown?: boolean): Promise<void>;
  /** The others take it for dead. */
  forget(): Promise<void>;
  stop(): Promise<void>;
}

/** Several processes that run the lines of batches from one storage, on one virtual clock. */
export class BatchWorld {
  readonly clock = new VirtualClock();
  /** How often each line was sent. */
  readonly sent = new Map<string, number>();
  readonly problems: string[] = [];
  /** The database does not answer. */
  isStoreAway = false;
  readonly #storage: Storage;
  readonly #random = new SeededIds(1);
  #made = 0;

  private constructor(storage: Storage) {
    this.#storage = storage;
  }

  static async open(): Promise<BatchWorld> {
    return new BatchWorld(await openMemoryStorage(new VirtualClock()));
  }

  get sentTwice(): string[] {
    return [...this.sent].filter(([, times]) => times > 1).map(([line]) => line);
  }

  /** `aheadMs`: how far its machine's clock is from the others. All agree on the time that does not step. */
  async start(options: { aheadMs?: number } = {}): Promise<BatchProcess> {
    const made = await this.make(options);
    made.runner.start();
    return made;
  }

  /** One that does not run lines yet. */
  async make({ aheadMs = 0 } = {}): Promise<BatchProcess> {
    const { clock } = this;
    const id = `instance_${++this.#made}`;
    const own: Clock = { ...clock, nowMs: clock.nowMs, wallMs: () => clock.wallMs() + aheadMs };
    let isAlive = true;
    const never = () => new Promise<never>(() => {});
    const reach = <Result>(work: () => Promise<Result>): Promise<Result> => {
      if (!isAlive) return never();
      return this.isStoreAway ? Promise.reject(new Error("the database is away")) : work();
    };
    const kept = this.#storage;
    const storage: Storage = {
      engine: "sqlite",
      query: (...asked) => reach(() => kept.query(...asked)),
      transaction: (...asked) => reach(() => kept.transaction(...asked)),
      runForEach: (...asked) => reach(() => kept.runForEach(...asked)),
      changeStamp: () => reach(() => kept.changeStamp()),
      close: async () => {},
    };
    const held = new Map<string, number>();
    const runner = new BatchRunner({
      clock: own,
      random: this.#random,
      instance: id,
      storage,
      content: CONTENT,
      forms: { chat: FORM },
      native: { choose: async () => ({ isNative: false, reason: "" }), wake: () => {} },
      mode: "own",
      maxConcurrent: MAX_CONCURRENT,
      maxLineBytes: 1_000,
      leaseMs: LEASE_MS,
      processes: () => 1,
      pace: new LinePace({ clock, max: MAX_CONCURRENT, runningCalls: () => 0 }),
      onProblem: (error, what) => this.problems.push(`${what}: ${error}`),
      outcomes: { succeeded: 0, failed: 0 },
      work: {
        estimate: async () => COST,
        reserve: async (batch, nanoUsd) => void held.set(batch.id, nanoUsd),
        hold: (batch, nanoUsd) => void held.set(batch.id, nanoUsd),
        refused: () => ({ status: 400, result: "{}" }),
        run: async ({ batch, line }, onAdmitted) => {
          onAdmitted();
          if (!isAlive) return never();
          const name = `${batch.id} ${line}`;
          this.sent.set(name, (this.sent.get(name) ?? 0) + 1);
          const createdAtMs = own.wallMs();
          await clock.sleep(CALL_MS);
          const receipt = sampleReceipt({
            id: `${RECEIPT_PREFIX}${timePrefix(createdAtMs)}${this.#random.id()}`,
            createdAtMs,
            costNanoUsd: COST,
          });
          return { status: 200, result: "{}", receipts: [receipt] };
        },
      },
    });
    await beat(kept, { id, place: "here", process: "", startedAtMs: own.wallMs(), shares: "redis" });
    const forget = () => deleteInstance(kept, id);
    return {
      id,
      runner,
      held,
      clock: own,
      kill: async (isKnown = true) => {
        isAlive = false;
        if (isKnown) await forget();
      },
      forget,
      stop: async () => {
        await clock.until(runner.stop());
        await forget();
      },
    };
  }

  async batch(id: string, count: number): Promise<void> {
    const createdAtMs = this.clock.nowMs();
    const at = { project: "default", keyId: "key_1", share: "project" as const };
    await insertObject(this.#storage, {
      ...at,
      id,
      kind: "batch",
      state: "in_progress",
      size: 0,
      metadata: { at: {} },
      createdAtMs,
    });
    await insertBatch(this.#storage, { id, form: "chat", endpoint: "", deadlineAtMs: createdAtMs + 3_600_000 });
    const lines = Array.from({ length: count }, (_, index) => ({
      line: index + 1,
      customId: `line-${index + 1}`,
      start: 0,
      size: 2,
      heldNanoUsd: COST,
    }));
    await insertLines(this.#storage, id, lines);
  }

  /** The database was restored from a copy of now. */
  hold(): Promise<void> {
    return holdBatches(this.#storage, this.clock.nowMs());
  }

  async release(): Promise<void> {
    await releaseHeldBatches(this.#storage);
  }

  /** The lines of a batch, and what its receipts cost. */
  async stateOf(id: string): Promise<{ succeeded: number; open: number; shownNanoUsd: number; billedNanoUsd: number }> {
    const counts = (await countLines(this.#storage, [id])).get(id) ?? NO_LINES;
    const [row] = await this.#storage.query("SELECT COALESCE(SUM(cost_nano_usd), 0) AS cost FROM receipts");
    const { succeeded, open, costNanoUsd } = counts;
    return { succeeded, open, shownNanoUsd: costNanoUsd, billedNanoUsd: Number(row?.["cost"]) };
  }
}
