import type { Owned } from "../canon/ownership.ts";
import type { LineCounts } from "../storage/tables/batch-lines.ts";

/** The states of the protocol that tells most of them apart. Other protocols show several of them as one. */
export const BATCH_STATES = [
  "validating",
  "failed",
  "in_progress",
  "finalizing",
  "completed",
  "expired",
  "cancelling",
  "cancelled",
] as const;
export type BatchState = (typeof BATCH_STATES)[number];

/** Why a batch failed as a whole. */
export interface BatchError {
  code: string;
  message: string;
  /** The line of the input, counted from one. */
  line?: number | undefined;
}

/** A batch that has ended, for the log. */
export interface EndedBatch {
  id: string;
  project: string;
  state: BatchState;
  errors?: readonly BatchError[] | undefined;
}

/** What is stored with the object of a batch. */
export interface BatchMetadata {
  /** The random part of the id of the input file. Absent if the lines were in the request. */
  inputId?: string | undefined;
  /** How many requests it has, if they came with it. Until its lines exist, they are all open. */
  requests?: number | undefined;
  /** As the client wrote it. */
  window: string;
  /** What the client wants to keep with it. */
  client?: Readonly<Record<string, string>> | undefined;
  name?: string | undefined;
  /** Headers of the request that created it, which each of its requests has. */
  headers?: Readonly<Record<string, string>> | undefined;
  errors?: readonly BatchError[] | undefined;
  /** The random parts of the ids of its output files. */
  outputId?: string | undefined;
  errorId?: string | undefined;
  /** When it reached each state. */
  at: Readonly<Partial<Record<BatchState, number>>>;
}

/** A batch that a client has created. */
export interface Batch extends BatchMetadata, Owned {
  keyId: string;
  /** The random part of its id. */
  id: string;
  form: string;
  endpoint: string;
  state: BatchState;
  createdAtMs: number;
  deadlineAtMs: number;
  /** The provider whose batch API runs it; undefined if the gateway runs it. */
  provider: string | undefined;
  counts: LineCounts;
}
