import { RECEIPT_PREFIX, timePrefix } from "../../base/timed-id.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { CACHE_STORAGE, type ToolPrice } from "../../canon/billable.ts";
import type { Receipt } from "../../canon/receipt.ts";
import type { Usage } from "../../canon/usage.ts";
import { keptPrices } from "../../catalogue/kept-prices.ts";
import { priceCall } from "../../catalogue/price-call.ts";
import { ToolPrices } from "../../catalogue/tool-prices.ts";
import type { Cache, CacheTerms } from "../../objects/caches.ts";
import type { Gateway } from "../gateway.ts";
import { logCall } from "../settle/log-call.ts";
import { publishCallEnded } from "../settle/publish-events.ts";

const HOUR_MS = 3_600_000;

/** What the storage of a cache is counted as: tokens times hours. */
const storedUsage = (tokens: number, ms: number): Usage => ({
  tools: { [CACHE_STORAGE]: (tokens * Math.max(0, ms)) / HOUR_MS },
});

/** The price when the cache was created. Without one, storage is unpriced. */
function pricesOf({ usd }: Pick<CacheTerms, "usd">) {
  const price: ToolPrice[] = usd === undefined ? [] : [{ name: CACHE_STORAGE, unit: "mtok_hour", usd }];
  return { pricings: {}, toolPrices: new ToolPrices([], price) };
}

/** What it costs to store tokens for a time, after the discount. Unknown prices count as 0, and are marked in the receipt. */
export const storageCost = (terms: Pick<CacheTerms, "usd" | "tokens" | "discount">, ms: number): number =>
  priceCall(storedUsage(terms.tokens, ms), pricesOf(terms), [], terms.discount).costNanoUsd;

/** The bill for the storage of a cache that is not billed yet. */
export function storageReceipt(cache: Cache, untilMs: number, gateway: Gateway, requestId?: string): Receipt {
  const { terms, project } = cache;
  const { discount, tags } = terms;
  const createdAtMs = Math.floor(gateway.clock.wallMs());
  const usage = storedUsage(terms.tokens, untilMs - terms.paidUntilMs);
  const prices = { ...pricesOf(terms), terms: [], discount };
  const { costNanoUsd, rule, unpriced } = priceCall(usage, prices, [], discount);
  return {
    id: RECEIPT_PREFIX + timePrefix(createdAtMs) + gateway.random.id(),
    project,
    key: terms.payer,
    createdAtMs,
    model: terms.model,
    provider: terms.provider,
    upstreamModel: terms.upstreamModel,
    verb: "caches",
    clientDialect: "genai",
    upstreamDialect: "service",
    lane: "translated",
    stream: false,
    outcome: "ok",
    offers: [],
    fields: [],
    usage,
    usageSource: "measured",
    priceRule: rule,
    pricedBy: keptPrices(prices, usage),
    costNanoUsd,
    totalMs: 0,
    instance: gateway.instance,
    ...withoutAbsent({ unpriced, tags, requestId }),
  };
}

/** Counts a bill that is stored: in budgets, metrics and the log. */
export function countStorage(cache: Cache, receipt: Receipt, gateway: Gateway): void {
  const { caches, metrics, events, unpriced, keys } = gateway;
  caches.spend(cache, receipt);
  logCall(gateway, receipt, receipt.requestId);
  metrics.settled(receipt);
  if (events.watched) publishCallEnded(receipt, gateway);
  if (receipt.unpriced === undefined) return;
  const { payer } = cache.terms;
  unpriced.note(receipt, { keyId: payer, maker: keys.makerOf(payer) }, [CACHE_STORAGE]);
}
