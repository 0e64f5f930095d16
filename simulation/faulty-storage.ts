import {
  type FollowUp,
  type Parameter,
  type Queries,
  STATEMENT_MS,
  type Storage,
  type StoredRow,
} from "../src/storage/storage.ts";
import { StorageTimeout } from "../src/storage/storage-timeout.ts";
import type { VirtualClock } from "../testing/virtual-clock.ts";
import type { StoreFault } from "./scenario.ts";

const SLOW_MS = 40;

/** The error SQLite reports when a disk fails: the runtime recognises its errors by name. */
const diskFailure = (): Error =>
  Object.assign(new Error("disk I/O error"), { name: "SQLiteError", code: "SQLITE_IOERR" });

/** The store as the simulated processes see it: its content outlives them, and it fails temporarily. */
export class FaultyStorage {
  readonly #kept: Storage;
  readonly #clock: VirtualClock;
  #fault: StoreFault | undefined;
  /** Resolves when the fault is over. */
  #over = Promise.withResolvers<void>();
  #faultEndedMs = Number.NEGATIVE_INFINITY;
  /** The ids of stored receipts. */
  readonly receipts = new Set<string>();
  /** Called when a background response can be read. */
  onAnswerDone: (id: string) => void = () => {};

  constructor(kept: Storage, clock: VirtualClock) {
    this.#kept = kept;
    this.#clock = clock;
  }

  beginFault(fault: StoreFault): void {
    this.endFault();
    this.#fault = fault;
    this.#over = Promise.withResolvers();
  }

  endFault(): void {
    if (this.#fault === undefined) return;
    this.#fault = undefined;
    this.#faultEndedMs = this.#clock.nowMs();
    this.#over.resolve();
  }

  /** How long the store has been healthy. */
  get soundForMs(): number {
    return this.#fault === undefined ? this.#clock.nowMs() - this.#faultEndedMs : -1;
  }

  /** One process's view of the store, until that process is killed. */
  connect(killed: Promise<never>): Storage {
    return new Connection(this, this.#kept, killed);
  }

  /** Performs the operation, or what the current fault turns it into. */
  async run<Result>(work: () => Promise<Result>, limitMs = STATEMENT_MS): Promise<Result> {
    const fault = this.#fault;
    if (fault === undefined) return work();
    switch (fault) {
      case "fails":
        throw diskFailure();
      case "slow":
        await this.#clock.sleep(SLOW_MS);
        return work();
      case "hangs": {
        const isLate = await Promise.race([
          this.#clock.sleep(limitMs).then(() => true),
          this.#over.promise.then(() => false),
        ]);
        if (isLate) throw new StorageTimeout(limitMs);
        return work();
      }
      case "loses":
        await work();
        await this.#clock.sleep(limitMs);
        throw new StorageTimeout(limitMs);
    }
  }
}

const ENDS_ANSWER = /^UPDATE answers SET state\b/;
const INSERTS_RECEIPTS = /^INSERT INTO receipt_rows\b/;

class Connection implements Storage {
  readonly engine = "sqlite";
  readonly #store: FaultyStorage;
  readonly #kept: Storage;
  readonly #killed: Promise<never>;
  #isAlive = true;

  constructor(store: FaultyStorage, kept: Storage, killed: Promise<never>) {
    this.#store = store;
    this.#kept = kept;
    this.#killed = killed;
    killed.catch(() => {
      this.#isAlive = false;
    });
  }

  query(text: string, parameters?: readonly Parameter[], limitMs?: number): Promise<readonly StoredRow[]> {
    return this.#run(() => this.#kept.query(text, parameters, limitMs), limitMs);
  }

  runForEach(text: string, rows: readonly (readonly Parameter[])[], followUp?: FollowUp): Promise<void> {
    return this.#run(async () => {
      await this.#kept.runForEach(text, rows, followUp);
      if (INSERTS_RECEIPTS.test(text)) for (const [id] of rows) this.#store.receipts.add(String(id));
    });
  }

  transaction<Result>(work: (queries: Queries) => Promise<Result>, limitMs?: number): Promise<Result> {
    return this.#run(async () => {
      const inserted: string[] = [];
      const done: string[] = [];
      const result = await this.#kept.transaction((queries) => {
        const query: Queries["query"] = (text, parameters = []) => {
          if (!this.#isAlive) return this.#killed;
          if (INSERTS_RECEIPTS.test(text)) inserted.push(String(parameters[0]));
          const [state, , , , id] = parameters;
          if (ENDS_ANSWER.test(text) && state === "done") done.push(String(id));
          return queries.query(text, parameters);
        };
        // Work that a killed process had begun is rolled back.
        return Promise.race([work({ query }), this.#killed]);
      }, limitMs);
      for (const id of inserted) this.#store.receipts.add(id);
      for (const id of done) this.#store.onAnswerDone(id);
      return result;
    }, limitMs);
  }

  changeStamp(): ReturnType<Storage["changeStamp"]> {
    return this.#run(() => this.#kept.changeStamp());
  }

  async close(): Promise<void> {}

  /** A killed process gets no more answers, though its last statements may still take effect. */
  #run<Result>(work: () => Promise<Result>, limitMs?: number): Promise<Result> {
    if (!this.#isAlive) return new Promise(() => {});
    return this.#store.run(work, limitMs);
  }
}
