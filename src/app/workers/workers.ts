import type { Cancel } from "../../base/clock.ts";
import type { Sources } from "../../base/sources.ts";
import { LeaseTable } from "../../leases/lease-table.ts";
import type { Log } from "../../observe/log.ts";
import { aheadOfWall } from "../agreed-clock.ts";
import { WorkerCollector } from "../metrics/collect-workers.ts";
import type { SimulatorAccess } from "../snapshot.ts";
import type { StartedApp } from "../start-app.ts";
import { CatchUps, type Member } from "./catch-ups.ts";
import {
  AHEAD_VARIABLE,
  COUNT_VARIABLE,
  type FromWorker,
  PARENT_VARIABLE,
  SIMULATOR_VARIABLES,
  type ToWorker,
  WORKER_VARIABLE,
} from "./worker-messages.ts";

interface WorkersOptions {
  count: number;
  /** The program and its arguments. */
  command: readonly string[];
  environment: Readonly<Record<string, string | undefined>>;
  sources: Sources;
  leaseMs: number;
  log: Log;
  /** The simulator that this process runs. */
  simulator: SimulatorAccess | undefined;
}

interface Worker extends Member {
  readonly process: Bun.Subprocess;
  readonly startedMs: number;
  /** Its number, from 1; its replacement has the same. */
  readonly place: number;
  /** Its own instance id, once known. */
  instance: string | undefined;
  /** It accepts calls. */
  isReady: boolean;
  /** Someone reads the events of all workers at this one. */
  wantsEvents: boolean;
  /** Whether it knows that another worker wants its events. */
  givesEvents: boolean;
}

/** A worker that dies is replaced immediately; one that keeps dying, after a pause. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** A worker that ran this long did not fail at its start. */
const SETTLED_MS = 10_000;

/**
 * The first process of a gateway with several. It serves no calls: it starts the workers, replaces those that die, and holds
 * the table from which they lease their limits.
 */
export class Workers {
  readonly #options: WorkersOptions;
  readonly #table: LeaseTable;
  readonly #name: string;
  readonly #workers = new Set<Worker>();
  readonly #pauses = new Set<Cancel>();
  readonly #collector: WorkerCollector;
  readonly #catchUps: CatchUps;
  #pauseMs = FIRST_PAUSE_MS;
  #stopping = false;
  /** The first worker accepts calls. */
  #isUp = false;
  readonly #first = Promise.withResolvers<StartedApp | undefined>();
  #failed = 0;
  readonly #ended = Promise.withResolvers<number>();

  constructor(options: WorkersOptions) {
    const { sources, leaseMs } = options;
    this.#options = options;
    const onWanted = (instance: string) => {
      for (const worker of this.#workers) if (worker.instance === instance) this.#tell(worker, { kind: "wanted" });
    };
    this.#table = new LeaseTable({ leaseMs, nowMs: sources.clock.nowMs, epoch: sources.random.id, onWanted });
    this.#name = sources.random.id();
    this.#collector = new WorkerCollector(sources.clock);
    const { log } = options;
    this.#catchUps = new CatchUps({
      clock: sources.clock,
      onSlow: (name) =>
        log.warn(`${name} has not confirmed a change yet; the change is answered when it has, or has ended`),
      onSilent: (name) => log.error(`${name} does not respond and is ended`),
    });
  }

  /** Resolves with the exit code when all workers have ended. */
  get ended(): Promise<number> {
    return this.#ended.promise;
  }

  /** Starts the first worker, and the others once it accepts calls. Undefined if the first one fails to start. */
  async start(): Promise<StartedApp | undefined> {
    this.#spawn();
    const app = await this.#first.promise;
    if (app !== undefined && !this.#stopping) {
      for (let count = 1; count < this.#options.count; count++) this.#spawn();
    }
    return app;
  }

  /**
   * By a message, because systemd signals every process of the service itself, and a second signal would end the calls. One that is
   * still starting has none.
   */
  stop(): void {
    this.#stop();
    for (const worker of this.#workers) {
      if (worker.isReady) this.#tell(worker, { kind: "stop" });
      else worker.process.kill("SIGTERM");
    }
  }

  reload(): void {
    for (const { process } of this.#workers) process.kill("SIGHUP");
  }

  #stop(): void {
    this.#stopping = true;
    for (const cancel of this.#pauses) cancel();
    this.#pauses.clear();
    this.#endIfAlone();
  }

  #spawn(): void {
    const { command, environment, sources, count, simulator } = this.#options;
    const child = Bun.spawn([...command], {
      env: {
        ...environment,
        [WORKER_VARIABLE]: this.#name,
        [PARENT_VARIABLE]: String(process.pid),
        [AHEAD_VARIABLE]: String(aheadOfWall(sources.clock)),
        [COUNT_VARIABLE]: String(count),
        ...(simulator && { [SIMULATOR_VARIABLES.url]: simulator.url, [SIMULATOR_VARIABLES.key]: simulator.key }),
      },
      stdin: "ignore",
      stdout: "inherit",
      stderr: "inherit",
      serialization: "json",
      // A signal of the terminal is for the first process, which passes it on once.
      detached: true,
      ipc: (message: FromWorker) => this.#hear(worker, message),
    });
    const worker: Worker = {
      name: `worker process ${child.pid}`,
      ask: (number, place) => this.#tell(worker, { kind: "catch-up", number, place }),
      end: () => child.kill("SIGKILL"),
      process: child,
      startedMs: sources.clock.nowMs(),
      place: this.#freePlace(),
      instance: undefined,
      isReady: false,
      wantsEvents: false,
      givesEvents: false,
    };
    this.#workers.add(worker);
    child.exited.then((code) => this.#onExit(worker, code));
  }

  #hear(worker: Worker, message: FromWorker): void {
    if (message.kind === "ready") this.#ready(worker, message.app);
    else if (message.kind === "sync") this.#answer(worker, message.sync);
    else if (message.kind === "events") this.#passOn(worker, message.events);
    else if (message.kind === "events-wanted") {
      worker.wantsEvents = message.areWanted;
      this.#askForEvents();
    } else if (message.kind === "joined") {
      this.#catchUps.join(worker);
      this.#tell(worker, { kind: "others-wait" });
    } else if (message.kind === "changed") void this.#spread(worker, message);
    else if (message.kind === "caught-up") this.#catchUps.answered(worker, message.number, message.hasCaughtUp);
    else if (message.kind === "metrics-wanted") void this.#collectFor(worker, message.number);
    else this.#collector.answered(message.number, String(worker.place), message.families);
  }

  #freePlace(): number {
    const taken = new Set([...this.#workers].map(({ place }) => place));
    let place = 1;
    while (taken.has(place)) place++;
    return place;
  }

  async #collectFor(worker: Worker, number: number): Promise<void> {
    const asked = [...this.#workers];
    const workers = await this.#collector.collect(asked.length, (own) => {
      for (const one of asked) this.#tell(one, { kind: "metrics-wanted", number: own });
    });
    this.#tell(worker, { kind: "all-metrics", number, workers });
  }

  async #spread(worker: Worker, { number, place }: Extract<FromWorker, { kind: "changed" }>): Promise<void> {
    const failed = await this.#catchUps.run(worker, place);
    this.#tell(worker, { kind: "all-caught-up", number, failed });
  }

  #tell({ process }: Worker, message: ToWorker): void {
    if (process.exitCode === null) process.send(message);
  }

  #ready(worker: Worker, app: StartedApp): void {
    worker.isReady = true;
    this.#isUp = true;
    this.#first.resolve(app);
    this.#askForEvents();
  }

  #askForEvents(): void {
    for (const worker of this.#workers) {
      const areWanted = [...this.#workers].some((other) => other !== worker && other.wantsEvents);
      if (!worker.isReady || worker.givesEvents === areWanted) continue;
      worker.givesEvents = areWanted;
      this.#tell(worker, { kind: "events-wanted", areWanted });
    }
  }

  #passOn(from: Worker, events: readonly string[]): void {
    for (const worker of this.#workers)
      if (worker !== from && worker.wantsEvents) this.#tell(worker, { kind: "events", events });
    this.#tell(from, { kind: "events-taken" });
  }

  #answer(worker: Worker, sync: Extract<FromWorker, { kind: "sync" }>["sync"]): void {
    worker.instance = sync.instance;
    this.#tell(worker, { kind: "answer", number: sync.number, answer: this.#table.sync(sync) });
  }

  #onExit(worker: Worker, code: number): void {
    this.#workers.delete(worker);
    this.#catchUps.leave(worker);
    this.#askForEvents();
    // Its calls are over: what it held of concurrent calls is free, and the ledger says what it has spent.
    if (worker.instance !== undefined) this.#table.markDead(worker.instance);
    if (this.#isUp && !this.#stopping) {
      this.#replace(worker, code);
      return;
    }
    // Why the first one did not start, it has said itself. One that is stopped while it starts has nothing to lose.
    const isStopped = code === 0 || worker.process.signalCode === "SIGTERM";
    if (!isStopped || !this.#stopping) this.#failed ||= code === 0 ? 1 : code;
    this.#first.resolve(undefined);
    this.#stop();
  }

  #replace(worker: Worker, code: number): void {
    const { clock } = this.#options.sources;
    const ranMs = clock.nowMs() - worker.startedMs;
    this.#pauseMs = ranMs > SETTLED_MS ? FIRST_PAUSE_MS : Math.min(LONGEST_PAUSE_MS, this.#pauseMs * 2);
    this.#options.log.error(
      { pid: worker.process.pid, code, signal: worker.process.signalCode },
      "a worker process ended and is being replaced",
    );
    const cancel = clock.after(this.#pauseMs, () => {
      this.#pauses.delete(cancel);
      this.#spawn();
    });
    this.#pauses.add(cancel);
  }

  #endIfAlone(): void {
    if (this.#workers.size === 0 && this.#pauses.size === 0) this.#ended.resolve(this.#failed);
  }
}
