import type { FailureCause } from "./error.ts";
import type { GuardVerdict } from "./guard/guard-verdict.ts";
import type { Requirements } from "./offer-traits.ts";
import type { Stop } from "./stop.ts";
import type { CorrectedUsage, Usage, UsageSource } from "./usage.ts";

/** One attempt of a call, in order. */
export interface OfferTried {
  provider: string;
  /** The label of the provider's credential. Absent if it has only one. */
  credential?: string;
  outcome: "answered" | "failed" | "abandoned";
  /** The kind of the error, if it failed. */
  reason?: string;
  ms: number;
  /** How many files of the request were uploaded to the provider before, and how many it had. Absent: none. */
  files?: { uploaded: number; reused: number } | undefined;
  /** The cause of the failure, for operators. Not in the receipt that clients see. */
  failure?: FailureCause;
}

/** One offer of the plan, to be tried at this position. */
export interface PlannedOffer {
  provider: string;
  /** As in `OfferTried`. */
  credential?: string;
  /** The public id, if it differs from the receipt's because the gateway chose another model or fell back to one. */
  model?: string;
  /** Counts from 1. */
  place: number;
  /** Why it has this position, in words. */
  why: string;
}

/** A broken stream that was continued by another offer. */
export interface Continuation {
  provider: string;
  /** How many characters had been received before. */
  fromCharacters: number;
}

/** A field of the request that was dropped or approximated. */
export interface FieldNote {
  /** JSON path in the client's request. */
  path: string;
  action: "approximated" | "dropped";
  reason: string;
}

/** Applied prices, stored once for all receipts that were billed by them. */
export interface KeptPrices {
  /** A digest of the text. */
  readonly id: string;
  /** Absent if the receipt was read from the ledger, which stores the texts separately. */
  readonly text?: string;
}

/** A part of a call that was billed separately. */
export interface PricedPart {
  readonly prices: KeptPrices;
  readonly usage: Usage;
}

/** How the time of a call was spent, in whole milliseconds. The parts add up to `totalMs`. */
export interface CallTiming {
  /**
   * Waiting for providers, including failed attempts: from each request to its first content, or to the whole response if it is not
   * streamed.
   */
  providerFirstContentMs: number;
  /** From the first content to the end of a stream, without the time spent waiting for the client. */
  providerStreamMs: number;
  /** Waiting for the client to send its request or to read the response. */
  clientMs: number;
  /** Pauses before retries. */
  backoffMs: number;
  /** Waiting for a slot at a provider with a concurrency limit. */
  queueMs: number;
  /** Everything else: reading, checking, planning, translating, and fetching media by URL. */
  gatewayMs: number;
}

/** The line of a batch that led to a call. */
export interface BatchPosition {
  /** The id of the batch. All of its forms end in the same characters. */
  id: string;
  /** In its input, counted from one. */
  line: number;
  /** The client's name for the line. */
  customId: string;
}

/** The stored response that answered a call. */
export interface CachedAnswer {
  /** The receipt of the call that it was stored for. */
  receipt: string;
  ageSeconds: number;
  /** What that call cost. */
  savedNanoUsd: number;
  /** What that call used. This one used nothing. */
  usage: Usage;
}

/** The price rule of calls that a stored response has answered. */
export const ANSWERED_FROM_CACHE = "answered from the cache";

/** An error as its client received it. */
export interface ClientError {
  message: string;
  /** The client's name of the invalid field. */
  path?: string;
  code?: string;
}

/** What happened to one call. The ledger keeps it; `GET /api/v1/generation?id=` shows it. */
export interface Receipt {
  id: string;
  project: string;
  /** The key's id, never the key. */
  key: string;
  createdAtMs: number;
  /** The public id of the model that answered. */
  model: string;
  /** The id, or else the provider's name, of the model that the answer names, if that is another one. */
  answeredBy?: string;
  provider: string;
  upstreamModel: string;
  /** The kind of request. */
  verb:
    | "generate"
    | "count_tokens"
    | "images"
    | "videos"
    | "embeddings"
    | "rerank"
    | "speech"
    | "transcriptions"
    | "translations"
    | "moderations"
    | "completions"
    | "compactions"
    | "caches";
  clientDialect: string;
  /** `media` or `service` if the provider's API is not one of the dialects. */
  upstreamDialect: string;
  lane: "native" | "translated";
  stream: boolean;
  /** `ok`, `client_gone`, or the kind of the error that ended the call. */
  outcome: string;
  stop?: Stop;
  offers: OfferTried[];
  /** Absent if there was nothing to choose: a single offer and no preference. */
  plan?: readonly PlannedOffer[];
  /** Present if several offers contributed to the response. */
  continued?: readonly Continuation[];
  /** The traits that every offer had to have. */
  require?: Requirements;
  /** What guards found in the request and the response. Absent if none looked at it. */
  guards?: readonly GuardVerdict[];
  /** Present if a stored response answered. Such a call uses and costs nothing. */
  cached?: CachedAnswer;
  /** A second offer was called while the first was still running. */
  hedged?: true;
  fields: FieldNote[];
  usage: Usage;
  usageSource: UsageSource;
  /** Set if the provider reported a usage that cannot be correct. */
  corrected?: CorrectedUsage;
  /** The applied price, in words that can be checked against the catalogue. */
  priceRule: string;
  /** The basis of the cost: the prices of everything used, or each part with its own. Absent in rows of earlier versions. */
  pricedBy?: KeptPrices | readonly PricedPart[];
  costNanoUsd: number;
  /** What was used without a known price: hosted tools, terms, counters. The cost does not include them. */
  unpriced?: readonly string[];
  firstContentMs?: number;
  totalMs: number;
  /** Absent in rows of earlier versions, and for videos, whose jobs may be polled by several processes. */
  timing?: CallTiming;
  /** The request's `x-trivium-request-id`. Several receipts may share one. */
  requestId?: string;
  /** The live connection that the call was a turn of. */
  sessionId?: string;
  /** Absent if the client sent no trace and the gateway exports none. */
  traceId?: string;
  /** The process that wrote it. Like `adjusts`, for operators. Absent in rows of earlier versions. */
  instance?: string;
  /** Set if the call was a line of a batch. */
  batch?: BatchPosition;
  /** Tags of the call and its key. Absent if there are none. */
  tags?: readonly string[];
  /** The operator who stopped the call, as in the audit log. For operators. */
  stoppedBy?: string;
  /** Who used the client's program, as the request or its credential said. */
  endUser?: string;
  /** The error that the client received. For operators. Absent in rows of earlier versions. */
  error?: ClientError;
  /** The receipt that this one corrects. Its cost is added to that receipt's, and it has no call of its own. */
  adjusts?: string;
}
