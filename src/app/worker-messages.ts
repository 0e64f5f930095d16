import type { Sync, SyncAnswer } from "../leases/lease-source.ts";
import type { Family } from "../telemetry/family.ts";
import type { WorkerMetrics } from "./metrics/merge-workers.ts";
import type { StartedApp } from "./start-app.ts";

/** What a worker tells the process that has started it. */
export type FromWorker =
  | { kind: "ready"; app: StartedApp }
  | { kind: "sync"; sync: Sync }
  /** Someone scrapes it: what do all workers say? */
  | { kind: "metrics-wanted"; number: number }
  | { kind: "metrics"; number: number; families: readonly Family[] };

/** And what it is told. */
export type ToWorker =
  | {
      kind: "answer";
      /** Of the sync that it answers. */
      number: number;
      answer: SyncAnswer;
    }
  | { kind: "metrics-wanted"; number: number }
  /** Of all workers that have answered in time. */
  | { kind: "all-metrics"; number: number; workers: readonly WorkerMetrics[] }
  /** It should sync: another worker wants some of what it holds, or has given what it wants. */
  | { kind: "wanted" };

/** Says that a process is a worker, and of which gateway. */
export const WORKER_VARIABLE = "TRIVIUM_WORKER_OF";
/** Says how far the clock of the first process is ahead of the machine's. */
export const AHEAD_VARIABLE = "TRIVIUM_WORKER_AHEAD_MS";
