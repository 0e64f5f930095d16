import type { LeaseSource, Sync, SyncAnswer } from "../../leases/lease-source.ts";
import type { ChangedPlace, Siblings } from "../../storage/changes.ts";
import type { Family } from "../../telemetry/family.ts";
import type { LimitSharing } from "../limit-sharing.ts";
import type { MetricsOfWorkers, WorkerMetrics } from "../metrics/merge-workers.ts";
import type { SimulatorAccess } from "../snapshot.ts";
import type { StartedApp } from "../start-app.ts";
import type { EventsOfWorkers } from "./events-of-workers.ts";
import { ParentEvents } from "./parent-events.ts";
import { endWithParent } from "./parent-watch.ts";
import {
  AHEAD_VARIABLE,
  COUNT_VARIABLE,
  type FromWorker,
  PARENT_VARIABLE,
  SIMULATOR_VARIABLES,
  type ToWorker,
  WORKER_VARIABLE,
} from "./worker-messages.ts";

/** A worker's connection to the first process, which started it. */
export interface WorkerProcess {
  /** The id of that process. */
  readonly parent: number;
  readonly sharing: LimitSharing;
  readonly metrics: MetricsOfWorkers;
  readonly events: EventsOfWorkers;
  readonly siblings: Siblings;
  /** How many workers there are. */
  readonly processes: number;
  /** That process runs it, so that all workers have the same. */
  readonly simulator: SimulatorAccess | undefined;
  /** How far the clock of that process is ahead of the machine's. */
  readonly firstAheadMs: number | undefined;
  ready(app: StartedApp): void;
  /** Called each time that process is asked to stop. */
  onStop(run: () => void): void;
  /** Called when that process has ended. */
  onOrphaned(run: () => void): void;
  /** Closes the connection, which would otherwise keep this process alive. */
  leave(): void;
}

/** Undefined if this process was not started as a worker. */
export function workerProcess(environment: Readonly<Record<string, string | undefined>>): WorkerProcess | undefined {
  const gateway = environment[WORKER_VARIABLE];
  if (gateway === undefined || process.send === undefined) return undefined;
  const parent = Number(environment[PARENT_VARIABLE] ?? process.ppid);
  endWithParent(parent);
  const tell = (message: FromWorker) => {
    if (process.connected) process.send?.(message);
  };
  // Listens from the start: otherwise a worker that starts while the first process dies would never notice.
  const orphaned = Promise.withResolvers<void>();
  process.once("disconnect", orphaned.resolve);
  const { url, key } = { url: environment[SIMULATOR_VARIABLES.url], key: environment[SIMULATOR_VARIABLES.key] };
  return {
    parent,
    sharing: { name: `workers of ${gateway}`, source: new ParentSource(tell) },
    metrics: new ParentMetrics(tell),
    events: new ParentEvents(tell),
    siblings: new ParentSiblings(tell),
    processes: Number(environment[COUNT_VARIABLE] ?? 1),
    simulator: url === undefined || key === undefined ? undefined : { url, key },
    firstAheadMs: readAhead(environment[AHEAD_VARIABLE]),
    ready: (app) => tell({ kind: "ready", app }),
    onStop: (run) => {
      process.on("message", (message: ToWorker) => {
        if (message.kind === "stop") run();
      });
    },
    onOrphaned: (run) => {
      if (!process.connected) orphaned.resolve();
      orphaned.promise.then(run);
    },
    leave: () => {
      if (process.connected) process.disconnect?.();
    },
  };
}

function readAhead(text: string | undefined): number | undefined {
  const ms = Number(text);
  return text === undefined || !Number.isFinite(ms) ? undefined : ms;
}

/** Leases from the process that has started this one. */
class ParentSource implements LeaseSource {
  readonly #tell: (message: FromWorker) => void;
  onWanted = () => {};
  #waiting: { number: number; resolve: (answer: SyncAnswer) => void } | undefined;

  constructor(tell: (message: FromWorker) => void) {
    this.#tell = tell;
    process.on("message", (message: ToWorker) => {
      if (message.kind === "wanted") this.onWanted();
      if (message.kind === "answer" && message.number === this.#waiting?.number) this.#waiting.resolve(message.answer);
    });
  }

  async sync(sync: Sync): Promise<SyncAnswer> {
    if (!process.connected) throw new Error("the main process, which shares limits among the workers, has ended");
    const { promise, resolve } = Promise.withResolvers<SyncAnswer>();
    this.#waiting = { number: sync.number, resolve };
    this.#tell({ kind: "sync", sync });
    return await promise;
  }

  async close(): Promise<void> {
    this.#waiting = undefined;
  }
}

/** The other workers, through the process that has started them. */
class ParentSiblings implements Siblings {
  readonly #tell: (message: FromWorker) => void;
  readonly #waiting = new Map<number, (failed: readonly string[]) => void>();
  readonly #joined = Promise.withResolvers<void>();
  #number = 0;
  #catchUp: (place: ChangedPlace) => Promise<void> = async () => {};

  constructor(tell: (message: FromWorker) => void) {
    this.#tell = tell;
    process.on("message", (message: ToWorker) => {
      if (message.kind === "others-wait") this.#joined.resolve();
      else if (message.kind === "catch-up") void this.#answer(message.number, message.place);
      else if (message.kind === "all-caught-up") {
        this.#waiting.get(message.number)?.(message.failed);
        this.#waiting.delete(message.number);
      }
    });
  }

  async join(catchUp: (place: ChangedPlace) => Promise<void>): Promise<void> {
    this.#catchUp = catchUp;
    this.#tell({ kind: "joined" });
    await this.#joined.promise;
  }

  async catchUp(place: ChangedPlace): Promise<readonly string[]> {
    // This process ends with the first one, in a moment.
    if (!process.connected) return [];
    const number = ++this.#number;
    const { promise, resolve } = Promise.withResolvers<readonly string[]>();
    this.#waiting.set(number, resolve);
    this.#tell({ kind: "changed", number, place });
    return await promise;
  }

  async #answer(number: number, place: ChangedPlace): Promise<void> {
    const hasCaughtUp = await this.#catchUp(place).then(
      () => true,
      () => false,
    );
    this.#tell({ kind: "caught-up", number, hasCaughtUp });
  }
}

/** Asks all workers through the process that has started them. */
class ParentMetrics implements MetricsOfWorkers {
  readonly #tell: (message: FromWorker) => void;
  readonly #waiting = new Map<number, (workers: readonly WorkerMetrics[]) => void>();
  #number = 0;
  #own: () => readonly Family[] = () => [];

  constructor(tell: (message: FromWorker) => void) {
    this.#tell = tell;
    process.on("message", (message: ToWorker) => {
      if (message.kind === "metrics-wanted") {
        tell({ kind: "metrics", number: message.number, families: this.#own() });
      } else if (message.kind === "all-metrics") {
        this.#waiting.get(message.number)?.(message.workers);
        this.#waiting.delete(message.number);
      }
    });
  }

  answerWith(own: () => readonly Family[]): void {
    this.#own = own;
  }

  async all(): Promise<readonly WorkerMetrics[]> {
    if (!process.connected) return [];
    const number = ++this.#number;
    const { promise, resolve } = Promise.withResolvers<readonly WorkerMetrics[]>();
    this.#waiting.set(number, resolve);
    this.#tell({ kind: "metrics-wanted", number });
    return await promise;
  }
}
