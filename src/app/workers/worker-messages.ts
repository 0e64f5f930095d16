import type { Sync, SyncAnswer } from "../../leases/lease-source.ts";
import type { ChangedPlace } from "../../storage/changes.ts";
import type { Family } from "../../telemetry/family.ts";
import type { WorkerMetrics } from "../metrics/merge-workers.ts";
import type { StartedApp } from "../start-app.ts";

/** Messages from a worker to the first process. */
export type FromWorker =
  | { kind: "ready"; app: StartedApp }
  | { kind: "sync"; sync: Sync }
  /** Others wait for it from now on. */
  | { kind: "joined" }
  /** It has written something: all others must catch up. */
  | { kind: "changed"; number: number; place: ChangedPlace }
  /** It has caught up, or cannot read the storage. */
  | { kind: "caught-up"; number: number; hasCaughtUp: boolean }
  /** A scrape arrived: collect the metrics of all workers. */
  | { kind: "metrics-wanted"; number: number }
  | { kind: "metrics"; number: number; families: readonly Family[] }
  /** Whether someone reads the events of all workers here. */
  | { kind: "events-wanted"; areWanted: boolean }
  /** Events of this worker, each as JSON. The next ones follow when these were taken. */
  | { kind: "events"; events: readonly string[] };

/** Messages from the first process to a worker. */
export type ToWorker =
  | {
      kind: "answer";
      /** The sync that it responds to. */
      number: number;
      answer: SyncAnswer;
    }
  | { kind: "others-wait" }
  | { kind: "catch-up"; number: number; place: ChangedPlace }
  /** All others have caught up, but for those that cannot read the storage. */
  | { kind: "all-caught-up"; number: number; failed: readonly string[] }
  | { kind: "metrics-wanted"; number: number }
  /** Of all workers that responded in time. */
  | { kind: "all-metrics"; number: number; workers: readonly WorkerMetrics[] }
  /** It should sync: another worker needs some of its share, or has returned some. */
  | { kind: "wanted" }
  /** Whether someone reads its events at another worker. */
  | { kind: "events-wanted"; areWanted: boolean }
  | { kind: "events-taken" }
  /** Events of another worker. */
  | { kind: "events"; events: readonly string[] }
  /** The gateway stops; the second time without waiting. */
  | { kind: "stop" };

/** Marks a process as a worker, and names its gateway. */
export const WORKER_VARIABLE = "TRIVIUM_WORKER_OF";
/** The process id of the first process. */
export const PARENT_VARIABLE = "TRIVIUM_WORKER_PARENT";
/** How many workers there are. */
export const COUNT_VARIABLE = "TRIVIUM_WORKERS";
/** The URL of the simulator, which runs in the first process, and its key. */
export const SIMULATOR_VARIABLES = { url: "TRIVIUM_WORKER_SIMULATOR", key: "TRIVIUM_WORKER_SIMULATOR_KEY" } as const;
/** How far the clock of the first process is ahead of the machine's. */
export const AHEAD_VARIABLE = "TRIVIUM_WORKER_AHEAD_MS";
