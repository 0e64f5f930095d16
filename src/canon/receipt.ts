import type { FailureCause } from "./failure-cause.ts";
import type { Stop } from "./stop.ts";
import type { Usage, UsageSource } from "./usage.ts";
import type { CorrectedUsage } from "./usage-correction.ts";

/** One offer that was tried for a call, in order. */
export interface OfferTried {
  provider: string;
  /** Which of the provider's credentials, by its label; absent where it has one. */
  credential?: string;
  outcome: "answered" | "failed" | "abandoned";
  /** The error's kind where it failed. */
  reason?: string;
  ms: number;
  /** Where the failure came from; for operators, not in the receipt that clients see. */
  failure?: FailureCause;
}

/** One offer of the plan: tried in this place, if it came to that. */
export interface PlannedOffer {
  provider: string;
  /** As in `OfferTried`. */
  credential?: string;
  /** The public id, where it is not the receipt's: the gateway chose, or fell back to another model. */
  model?: string;
  /** Counts from 1. */
  place: number;
  /** Why it has this place, in words. */
  why: string;
}

/** A broken stream that went on at another offer. */
export interface Continuation {
  provider: string;
  /** How many characters of the answer had come before. */
  fromCharacters: number;
}

/** A field of the request that was not honoured to the letter. */
export interface FieldNote {
  /** JSON path in the client's request. */
  path: string;
  action: "approximated" | "dropped";
  reason: string;
}

/** Prices as they were applied. Kept once for all receipts that were billed by them. */
export interface KeptPrices {
  /** A digest of the text. */
  readonly id: string;
  /** Absent where the receipt was read from the ledger, which has the texts beside it. */
  readonly text?: string;
}

/** A part of a call that was billed by itself. */
export interface PricedPart {
  readonly prices: KeptPrices;
  readonly usage: Usage;
}

/** Where the time of a call went, in whole milliseconds. The parts add up to `totalMs`. */
export interface CallTiming {
  /** Waiting for providers, from each request to its first content, or to the whole answer where it is not streamed; failed attempts too. */
  providerFirstContentMs: number;
  /** From the first content to the end of a stream, without the time that was spent waiting for the client. */
  providerStreamMs: number;
  /** Waiting for the client to send its request, or to take what was written to it. */
  clientMs: number;
  /** The pauses before an offer was tried again. */
  backoffMs: number;
  /** Waiting for a free slot at a provider that takes a limited number of requests at a time. */
  queueMs: number;
  /** The rest: reading, checking, planning, translating, and fetching media that the request names by URL. */
  gatewayMs: number;
}

/** What happened to one call. The ledger keeps it; `GET /api/v1/generation?id=` shows it. */
export interface Receipt {
  id: string;
  project: string;
  /** The key's id, never the key. */
  key: string;
  createdAtMs: number;
  /** Public model id that answered. */
  model: string;
  provider: string;
  upstreamModel: string;
  /** What was asked for. */
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
    | "compactions";
  clientDialect: string;
  /** `media` and `service` where the provider is called by an API that is no dialect. */
  upstreamDialect: string;
  lane: "native" | "translated";
  stream: boolean;
  /** `ok`, `client_gone`, or the kind of the error that ended the call. */
  outcome: string;
  stop?: Stop;
  offers: OfferTried[];
  /** Absent where there was nothing to choose: one offer, and no preference. */
  plan?: readonly PlannedOffer[];
  /** Present where the answer is of several offers, one after the other. */
  continued?: readonly Continuation[];
  /** A second offer was asked while the first was at work. */
  hedged?: true;
  fields: FieldNote[];
  usage: Usage;
  usageSource: UsageSource;
  /** Where the provider reported another usage, which cannot be true. */
  corrected?: CorrectedUsage;
  /** Which price was applied, in words that a person can check against the catalogue. */
  priceRule: string;
  /** What the cost follows from: the prices of all that was used, or each part with its own. Absent in rows of earlier versions. */
  pricedBy?: KeptPrices | readonly PricedPart[];
  costNanoUsd: number;
  /** What was used without a known price: hosted tools, terms, counters. The cost is too small by what these cost. */
  unpriced?: readonly string[];
  firstContentMs?: number;
  totalMs: number;
  /** Absent in rows of earlier versions, and for videos: their jobs are polled, perhaps by several processes. */
  timing?: CallTiming;
  /** The request that the call came with, as `x-trivium-request-id` names it. Several receipts may share one. */
  requestId?: string;
  /** Of the trace that the call belongs to; absent where its client sent none and the gateway exports none. */
  traceId?: string;
  /** The process that wrote it; for operators, as is `adjusts`. Absent in rows of earlier versions. */
  instance?: string;
  /** What the call, or its key, was marked with; absent where with nothing. */
  tags?: readonly string[];
  /** The receipt that this one corrects: its cost is added to that one's, and no call belongs to it. */
  adjusts?: string;
}
