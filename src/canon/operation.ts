import type { JsonObject } from "../base/json.ts";
import type { DialectName } from "./dialect-name.ts";
import type { ErrorKind } from "./error.ts";
import type { GuardVerdict } from "./guard/guard-verdict.ts";
import type { Sharing } from "./ownership.ts";
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
  /** `asking`: the request was sent, but it is unknown whether it arrived. */
  state: "new" | "asking" | "waiting" | "done" | "failed";
  /** Identifies the job at its provider. */
  providerJob?: JsonObject;
  /** It failed, but the provider may have accepted it. Submitting it again could create a second video. */
  uncertain?: true;
  /** How many videos it creates. */
  count: number;
  /** When to poll next. */
  dueAtMs: number;
  /** Polls in a row that failed. */
  failures: number;
  /** 0..100, where the provider reports it. */
  progress?: number;
  videos: KeptVideo[];
  /** Why the finished video could not be stored so far. Storing is retried, and the video is billed either way. */
  unkept?: StoredError & { made: number };
  /** One reason for each video that moderation blocked. */
  filtered: string[];
  /** The generated seconds as the provider reports them. If absent, the requested ones count. */
  seconds?: number;
  resolution?: string;
  audio?: boolean;
  error?: StoredError;
}

/**
 * The position of an operation's request in its client's trace. All times are wall-clock times, because another process may finish the
 * operation.
 */
export interface OperationTrace {
  traceId: string;
  /** Of the request. */
  spanId: string;
  parent?: { spanId: string; sampled: boolean; state?: string };
  method: string;
  route?: string;
  startedMs: number;
  /** When the client got the operation's name. Absent if it got an error. */
  answeredMs?: number;
  /** In the order of the attempts. */
  attempts: { startedMs: number; endedMs: number; spanId?: string }[];
}

/** The request that started an operation, for the log and the trace, which are written when it ends. */
export interface OperationRequest {
  id: string;
  /** Absent if traces were not exported. */
  trace?: OperationTrace;
}

/** What must be known about the job later. It includes neither the prompt nor the images. */
export interface OperationJob {
  upstreamModel: string;
  count: number;
  seconds: number;
  resolution: string;
  audio: boolean;
  /** The prices at the time of the request. */
  pricings: JsonObject;
  /** The discount at that time, in basis points. */
  discount?: number;
  notes: FieldNote[];
  offers: OfferTried[];
  /** As in the receipt. */
  plan?: readonly PlannedOffer[];
  /** What guards found in the request. */
  guards?: readonly GuardVerdict[];
  /** Absent in operations of earlier versions. */
  request?: OperationRequest;
  /** The protocol of the client that submitted it; `genai` if absent. */
  client?: DialectName;
  /** The model as the client named it, if its protocol repeats that name. */
  namedModel?: string;
  /** Width and height, if known before the video is made: `1280x720`. */
  size?: string;
  /** The operation whose video this one is made from, and the length of that video. */
  source?: { id: string; kind: VideoDerivation; seconds: number };
}

/** How a video is made from an earlier one: with another prompt, with changes to its content, or with more seconds at its end. */
export type VideoDerivation = "remix" | "edit" | "extend";

/** An asynchronous job for a project, bound to the provider and the credential that accepted it (H24). */
export interface Operation {
  id: string;
  project: string;
  keyId: string;
  /** Which keys of the project can see it: all of them if absent. */
  share?: Sharing;
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
  /** A digest of the client's key, model and body, to detect repeated requests. */
  requestDigest: string;
  idempotencyKey?: string;
  /** As in its receipt. */
  tags?: readonly string[];
  endUser?: string;
  /** Whether the client has received the name. */
  claimed: boolean;
  createdAtMs: number;
  /** When it fails if it has not ended by then. */
  deadlineAtMs: number;
  dueAtMs: number;
  endedAtMs?: number;
  /** When it is deleted. */
  expiresAtMs?: number;
}
