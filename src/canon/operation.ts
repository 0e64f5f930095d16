import type { JsonObject } from "../base/json.ts";
import type { ErrorKind } from "./error.ts";
import type { FieldNote, OfferTried } from "./receipt.ts";

/** An error that outlives its process. */
export interface StoredError {
  kind: ErrorKind;
  message: string;
}

/** A video that was made and kept. */
export interface KeptVideo {
  /** The id of the file. */
  file: string;
  mimeType: string;
}

/** One job at the provider. An operation has several where its videos are made one by one. */
export interface OperationPart {
  /** `asking`: the request has left, and nobody knows whether it arrived. */
  state: "new" | "asking" | "waiting" | "done" | "failed";
  /** What names the job at its provider. */
  providerJob?: JsonObject;
  /** It failed, and yet the provider may have taken it: asking again might make a second video. */
  uncertain?: true;
  /** How many videos it is to make. */
  count: number;
  /** Not asked about before that. */
  dueAtMs: number;
  /** Questions in a row that went wrong. */
  failures: number;
  /** 0..100, where the provider tells. */
  progress?: number;
  videos: KeptVideo[];
  /** Why what the provider has made could not be kept so far: it is tried again, and will be billed either way. */
  unkept?: StoredError & { made: number };
  /** One reason for each video that moderation held back. */
  filtered: string[];
  /** What was made, where the provider told: else what was asked for counts. */
  seconds?: number;
  resolution?: string;
  audio?: boolean;
  error?: StoredError;
}

/** What the job is, as far as it has to be known later: neither its prompt nor its images. */
export interface OperationJob {
  upstreamModel: string;
  count: number;
  seconds: number;
  resolution: string;
  audio: boolean;
  /** The prices of the day on which it was asked for. */
  pricings: JsonObject;
  notes: FieldNote[];
  offers: OfferTried[];
}

/** An asynchronous job for a project, bound to the provider and the credential that took it (H24). */
export interface Operation {
  id: string;
  project: string;
  keyId: string;
  receiptId: string;
  /** The public id. */
  model: string;
  provider: string;
  /** A digest of where and as whom the provider was asked. */
  credential: string;
  state: "submitting" | "running" | "done" | "failed";
  job: OperationJob;
  parts: OperationPart[];
  error?: StoredError;
  /** Of the client's key, model and body: the same request again may be a repetition. */
  requestDigest: string;
  idempotencyKey?: string;
  /** The client was told the name. */
  claimed: boolean;
  createdAtMs: number;
  /** Given up then. */
  deadlineAtMs: number;
  dueAtMs: number;
  endedAtMs?: number;
  /** Forgotten then. */
  expiresAtMs?: number;
}
