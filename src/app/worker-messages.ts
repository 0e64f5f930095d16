import type { Sync, SyncAnswer } from "../leases/lease-source.ts";
import type { StartedApp } from "./start-app.ts";

/** What a worker tells the process that has started it. */
export type FromWorker = { kind: "ready"; app: StartedApp } | { kind: "sync"; sync: Sync };

/** And what it is told. */
export interface ToWorker {
  kind: "answer";
  /** Of the sync that it answers. */
  number: number;
  answer: SyncAnswer;
}

/** Says that a process is a worker, and of which gateway. */
export const WORKER_VARIABLE = "TRIVIUM_WORKER_OF";
