import type { GuardOn } from "../canon/guard/guard-verdict.ts";
import { requirementsView } from "../canon/offer-traits.ts";
import type {
  BatchPosition,
  CachedAnswer,
  CallTiming,
  FieldNote,
  OfferTried,
  PlannedOffer,
  Receipt,
} from "../canon/receipt.ts";
import type { Stop } from "../canon/stop.ts";
import { type CorrectionReason, type Usage, type UsageSource, wholeUsage } from "../canon/usage.ts";

/** A receipt as `GET /api/v1/generation?id=` shows it. Unknown values are null, never 0. */
interface ReceiptView {
  data: {
    id: string;
    created_at: string;
    model: string;
    provider: string;
    upstream_model: string;
    dialect: { client: string; upstream: string };
    lane: Receipt["lane"];
    stream: boolean;
    stop: Stop | null;
    /** `null`: there was only one offer. */
    plan: { provider: string; credential: string | null; model: string | null; place: number; why: string }[] | null;
    offers: {
      provider: string;
      /** The label of the credential, if the provider has several. */
      credential: string | null;
      outcome: OfferTried["outcome"];
      reason: string | null;
      ms: number;
      /** Files of the request that were uploaded to the provider before, and that it had; `null`: none. */
      files: { uploaded: number; reused: number } | null;
    }[];
    /** Where the response continued after the stream broke off. */
    continued: { provider: string; from_characters: number }[];
    /** A second offer was tried while the first was still running. */
    hedged: boolean;
    /** Another model that the answer names. */
    answered_by: string | null;
    /** The traits that every offer had to have. */
    require: Record<string, string> | null;
    /** What guards found. */
    guards: {
      name: string;
      on: GuardOn;
      verdict: string;
      count: number;
      paths: readonly string[];
      reason: string | null;
      ms: number;
    }[];
    fields: FieldNote[];
    tags: readonly string[];
    end_user: string | null;
    usage: {
      input: number | null;
      cache_read: number | null;
      cache_write_5m: number | null;
      cache_write_1h: number | null;
      output: number | null;
      reasoning: number | null;
      image_input: number | null;
      audio_input: number | null;
      image_output: number | null;
      audio_output: number | null;
      images: number | null;
      seconds: number | null;
      characters: number | null;
      searches: number | null;
      tools: Readonly<Record<string, number>> | null;
    };
    usage_source: UsageSource;
    /** A stored response answered. */
    cached: boolean;
    /** What that saved; 0 if it was not cached. */
    saved_nano_usd: number;
    /** The stored response; `usage` is what its own call used. */
    cached_answer: { receipt: string; age_seconds: number; usage: ReceiptView["data"]["usage"] } | null;
    /** The provider's usage if it cannot be true; `usage` is then an estimate. */
    reported: ReceiptView["data"]["usage"] | null;
    /** Why it cannot be true. */
    usage_corrections: readonly CorrectionReason[];
    price_rule: string;
    cost_usd: number;
    cost_nano_usd: number;
    unpriced: readonly string[];
    first_content_ms: number | null;
    total_ms: number;
    /** The parts of `total_ms`; `null` for videos and in receipts of earlier versions. */
    timing: {
      provider_first_content_ms: number;
      provider_stream_ms: number;
      client_ms: number;
      backoff_ms: number;
      queue_ms: number;
      gateway_ms: number;
    } | null;
    request_id: string | null;
    session_id: string | null;
    trace_id: string | null;
    /** `null`: it was no line of a batch. */
    batch: { id: string; line: number; custom_id: string } | null;
  };
}

export function receiptView(receipt: Receipt): ReceiptView {
  const { usage } = receipt;
  return {
    data: {
      id: receipt.id,
      created_at: new Date(receipt.createdAtMs).toISOString(),
      model: receipt.model,
      provider: receipt.provider,
      upstream_model: receipt.upstreamModel,
      dialect: { client: receipt.clientDialect, upstream: receipt.upstreamDialect },
      lane: receipt.lane,
      stream: receipt.stream,
      stop: receipt.stop === undefined ? null : { unified: receipt.stop.unified, raw: receipt.stop.raw },
      plan: receipt.plan === undefined ? null : receipt.plan.map(plannedView),
      offers: receipt.offers.map((offer) => ({
        provider: offer.provider,
        credential: offer.credential ?? null,
        outcome: offer.outcome,
        reason: offer.reason ?? null,
        ms: offer.ms,
        files: offer.files ?? null,
      })),
      continued: (receipt.continued ?? []).map(({ provider, fromCharacters }) => ({
        provider,
        from_characters: fromCharacters,
      })),
      hedged: receipt.hedged === true,
      answered_by: receipt.answeredBy ?? null,
      require: receipt.require === undefined ? null : requirementsView(receipt.require),
      guards: (receipt.guards ?? []).map(({ name, on, verdict, count = 0, paths = [], reason = null, ms }) => ({
        name,
        on,
        verdict,
        count,
        paths,
        reason,
        ms,
      })),
      fields: receipt.fields.map(({ path, action, reason }) => ({ path, action, reason })),
      tags: receipt.tags ?? [],
      end_user: receipt.endUser ?? null,
      usage: usageView(usage),
      usage_source: receipt.usageSource,
      cached: receipt.cached !== undefined,
      saved_nano_usd: receipt.cached?.savedNanoUsd ?? 0,
      cached_answer: receipt.cached === undefined ? null : cachedView(receipt.cached),
      reported: receipt.corrected === undefined ? null : usageView(wholeUsage(receipt.corrected.reported)),
      usage_corrections: receipt.corrected?.reasons ?? [],
      price_rule: receipt.priceRule,
      cost_usd: receipt.costNanoUsd / 1e9,
      cost_nano_usd: receipt.costNanoUsd,
      unpriced: receipt.unpriced ?? [],
      first_content_ms: receipt.firstContentMs ?? null,
      total_ms: receipt.totalMs,
      timing: receipt.timing === undefined ? null : timingView(receipt.timing),
      request_id: receipt.requestId ?? null,
      session_id: receipt.sessionId ?? null,
      trace_id: receipt.traceId ?? null,
      batch: receipt.batch === undefined ? null : batchView(receipt.batch),
    },
  };
}

const batchView = ({ id, line, customId }: BatchPosition) => ({ id, line, custom_id: customId });

const cachedView = ({ receipt, ageSeconds, usage }: CachedAnswer) => ({
  receipt,
  age_seconds: ageSeconds,
  usage: usageView(usage),
});

const timingView = (timing: CallTiming): NonNullable<ReceiptView["data"]["timing"]> => ({
  provider_first_content_ms: timing.providerFirstContentMs,
  provider_stream_ms: timing.providerStreamMs,
  client_ms: timing.clientMs,
  backoff_ms: timing.backoffMs,
  queue_ms: timing.queueMs,
  gateway_ms: timing.gatewayMs,
});

/** Unknown values are null, never 0. */
export const usageView = (usage: Usage): ReceiptView["data"]["usage"] => ({
  input: usage.input ?? null,
  cache_read: usage.cacheRead ?? null,
  cache_write_5m: usage.cacheWrite5m ?? null,
  cache_write_1h: usage.cacheWrite1h ?? null,
  output: usage.output ?? null,
  reasoning: usage.reasoning ?? null,
  image_input: usage.imageInput ?? null,
  audio_input: usage.audioInput ?? null,
  image_output: usage.imageOutput ?? null,
  audio_output: usage.audioOutput ?? null,
  images: usage.images ?? null,
  seconds: usage.seconds ?? null,
  characters: usage.characters ?? null,
  searches: usage.searches ?? null,
  tools: usage.tools ?? null,
});

function plannedView({ provider, credential, model, place, why }: PlannedOffer) {
  return { provider, credential: credential ?? null, model: model ?? null, place, why };
}
