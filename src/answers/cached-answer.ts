import type { FieldNote, Receipt } from "../canon/receipt.ts";
import type { Stop } from "../canon/stop.ts";
import type { Usage } from "../canon/usage.ts";

/** A part of a response that each use of it replaces. */
export interface AnswerMark {
  readonly start: number;
  readonly end: number;
  /** `seconds` and `timestamp`: a time. */
  readonly is: "id" | "seconds" | "timestamp";
}

/** A response as its client received it, and what its receipt said. */
export interface CachedAnswer {
  readonly text: string;
  /** In order. */
  readonly marks: readonly AnswerMark[];
  readonly receipt: string;
  readonly model: string;
  readonly upstreamDialect: string;
  readonly lane: Receipt["lane"];
  /** Absent if it belongs to no conversation. */
  readonly stop?: Stop | undefined;
  readonly fields: readonly FieldNote[];
  readonly usage: Usage;
  readonly costNanoUsd: number;
}

/** Where a response is kept, and for how long. */
export interface AnswerPlace {
  readonly project: string;
  /** Of everything that can change the response. */
  readonly digest: string;
  readonly ttlMs: number;
  readonly maxBytes: number;
}
