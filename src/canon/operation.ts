import type { JsonObject } from "../base/json.ts";
import type { ErrorKind } from "./error.ts";
import type { FieldNote, OfferTried, PlannedOffer } from "./receipt.ts";

/** An error that is stored. */
export interface StoredError {
  kind: ErrorKind;
  message: string;
}

/** A video that was made and stored. */
export interface KeptVideo {
  /** The id of the file. */
  file: string;
  mimeType: string;
}

/** One job at the provider. An operation has several where its videos are made one by one. */
export interface OperationPart {
  /** `asking`: the request was sent, and whether it arrived is unknown. */
  state: "new" | "asking" | "waiting" | "done" | "failed";
  /** Identifies the job at its provider. */
  providerJob?: JsonObject;
  /** It failed, but the provider may have accepted it: submitting it again might make a second video. */
  uncertain?: true;
  /** How many videos it is to make. */
  count: number;
  /** When to poll next. */
  dueAtMs: number;
  /** Polls in a row that failed. */
  failures: number;
  /** 0..100, where the provider reports it. */
  progress?: number;
  videos: KeptVideo[];
  /** Why the finished video could not be stored so far: it is tried again, and will be billed either way. */
  unkept?: StoredError & { made: number };
  /** One reason for each video that moderation blocked. */
  filtered: string[];
  /** What was made, where the provider reports it: else what was requested counts. */
  seconds?: number;
  resolution?: string;
  audio?: boolean;
  error?: StoredError;
}

/** Where the request of an operation stands in its client's trace. All moments are of the wall clock: another process may end the operation. */
export interface OperationTrace {
  traceId: string;
  /** Of the request. */
  spanId: string;
  parent?: { spanId: string; sampled: boolean; state?: string };
  method: string;
  route?: string;
  startedMs: number;
  /** When the client got the operation's name; absent where it got an error. */
  answeredMs?: number;
  /** In the order of the offers that were tried. */
  attempts: { startedMs: number; endedMs: number; spanId?: string }[];
}

/** The request that an operation began with: for the log and the trace, which are written when it ends. */
export interface OperationRequest {
  id: string;
  /** Absent where traces were not exported. */
  trace?: OperationTrace;
}

/** What has to be known about the job later: neither its prompt nor its images. */
export interface OperationJob {
  upstreamModel: string;
  count: number;
  seconds: number;
  resolution: string;
  audio: boolean;
  /** The prices of the day of its request. */
  pricings: JsonObject;
  /** The discount of that day, in basis points. */
  discount?: number;
  notes: FieldNote[];
  offers: OfferTried[];
  /** As in the receipt. */
  plan?: readonly PlannedOffer[];
  /** Absent in operations of earlier versions. */
  request?: OperationRequest;
}

/** An asynchronous job for a project, bound to the provider and the credential that accepted it (H24). */
export interface Operation {
  id: string;
  project: string;
  keyId: string;
  receiptId: string;
  /** The public id. */
  model: string;
  provider: string;
  /** A digest of the provider's base URL and credential. */
  credential: string;
  state: "submitting" | "running" | "done" | "failed";
  job: OperationJob;
  parts: OperationPart[];
  error?: StoredError;
  /** Of the client's key, model and body: an equal request may be a repetition. */
  requestDigest: string;
  idempotencyKey?: string;
  /** As in its receipt. */
  tags?: readonly string[];
  /** The client has received the name. */
  claimed: boolean;
  createdAtMs: number;
  /** When it fails, if it has not ended. */
  deadlineAtMs: number;
  dueAtMs: number;
  endedAtMs?: number;
  /** When it is deleted. */
  expiresAtMs?: number;
}
