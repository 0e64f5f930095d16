import type { FieldNote, OfferTried, Receipt } from "../canon/receipt.ts";
import type { UnifiedStop } from "../canon/stop.ts";
import type { Usage, UsageCounter, UsageSource } from "../canon/usage.ts";
import { USAGE_COUNTERS } from "../canon/usage.ts";
import { number, optionalNumber, optionalText, text } from "./columns.ts";
import type { Parameter, StoredRow } from "./storage.ts";

interface ReceiptColumn {
  name: string;
  type: "TEXT" | "BIGINT" | "INTEGER" | "DOUBLE PRECISION";
  from: (receipt: Receipt) => Parameter;
}

export const USAGE_COLUMNS: Readonly<Record<UsageCounter, string>> = {
  input: "usage_input",
  cacheRead: "usage_cache_read",
  cacheWrite5m: "usage_cache_write_5m",
  cacheWrite1h: "usage_cache_write_1h",
  output: "usage_output",
  reasoning: "usage_reasoning",
  imageInput: "usage_image_input",
  audioInput: "usage_audio_input",
  imageOutput: "usage_image_output",
  audioOutput: "usage_audio_output",
  images: "usage_images",
  seconds: "usage_seconds",
  characters: "usage_characters",
  searches: "usage_searches",
};

/** An integer that fits a BIGINT, or null: one odd value must not keep a batch of rows out of the ledger. */
function whole(value: number | undefined): number | null {
  if (value === undefined || Number.isNaN(value)) return null;
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Math.round(value)));
}

function fraction(value: number | undefined): number | null {
  return value !== undefined && Number.isFinite(value) ? value : null;
}

/** A string, or null: a value of another type from a host must not keep a batch out either. */
function words(name: string, from: (receipt: Receipt) => string): ReceiptColumn {
  return { name, type: "TEXT", from: (receipt) => wordOf(from(receipt)) ?? "" };
}

function optionalWords(name: string, from: (receipt: Receipt) => string | undefined): ReceiptColumn {
  return { name, type: "TEXT", from: (receipt) => wordOf(from(receipt)) };
}

const wordOf = (value: unknown): string | null => (typeof value === "string" ? value : null);

const list = (values: readonly unknown[]): string => (values.length === 0 ? "[]" : JSON.stringify(values));

/** Every column of a receipt's row, in the order in which rows are written. */
export const RECEIPT_COLUMNS: readonly ReceiptColumn[] = [
  words("id", (receipt) => receipt.id),
  words("project", (receipt) => receipt.project),
  words("key_id", (receipt) => receipt.key),
  { name: "created_at_ms", type: "BIGINT", from: (receipt) => whole(receipt.createdAtMs) ?? 0 },
  words("model", (receipt) => receipt.model),
  words("provider", (receipt) => receipt.provider),
  words("upstream_model", (receipt) => receipt.upstreamModel),
  words("verb", (receipt) => receipt.verb),
  words("client_dialect", (receipt) => receipt.clientDialect),
  words("upstream_dialect", (receipt) => receipt.upstreamDialect),
  words("lane", (receipt) => receipt.lane),
  { name: "stream", type: "INTEGER", from: (receipt) => (receipt.stream ? 1 : 0) },
  words("outcome", (receipt) => receipt.outcome),
  optionalWords("stop_unified", (receipt) => receipt.stop?.unified),
  optionalWords("stop_raw", (receipt) => receipt.stop?.raw),
  ...USAGE_COUNTERS.map(
    (counter): ReceiptColumn =>
      counter === "seconds"
        ? { name: USAGE_COLUMNS.seconds, type: "DOUBLE PRECISION", from: (receipt) => fraction(receipt.usage.seconds) }
        : { name: USAGE_COLUMNS[counter], type: "BIGINT", from: (receipt) => whole(receipt.usage[counter]) },
  ),
  words("usage_source", (receipt) => receipt.usageSource),
  words("price_rule", (receipt) => receipt.priceRule),
  { name: "cost_nano_usd", type: "BIGINT", from: (receipt) => whole(receipt.costNanoUsd) ?? 0 },
  { name: "first_content_ms", type: "BIGINT", from: (receipt) => whole(receipt.firstContentMs) },
  { name: "total_ms", type: "BIGINT", from: (receipt) => whole(receipt.totalMs) ?? 0 },
  words("offers", (receipt) => list(receipt.offers)),
  words("fields", (receipt) => list(receipt.fields)),
  optionalWords("routing", routingText),
  optionalWords("instance", (receipt) => receipt.instance),
  optionalWords("adjusts", (receipt) => receipt.adjusts),
  optionalWords("priced_by", pricedByText),
];

/** The id of the prices; where parts have their own, a list of them. */
function pricedByText({ pricedBy }: Receipt): string | undefined {
  if (pricedBy === undefined || "id" in pricedBy) return pricedBy?.id;
  return JSON.stringify(pricedBy.map(({ prices, usage }) => ({ prices: prices.id, usage })));
}

function readPricedBy(text: string): NonNullable<Receipt["pricedBy"]> {
  if (!text.startsWith("[")) return { id: text };
  const parts = JSON.parse(text) as { prices: string; usage: Usage }[];
  return parts.map(({ prices, usage }) => ({ prices: { id: prices }, usage }));
}

/** The parts of a receipt that one column holds: most calls have none of them. */
type Routing = Pick<Receipt, "plan" | "continued" | "hedged">;

function routingText({ plan, continued, hedged }: Routing): string | undefined {
  if (plan === undefined && continued === undefined && hedged === undefined) return undefined;
  return JSON.stringify({ plan, continued, hedged });
}

/** The row as a receipt again. Words are taken as they are stored: only this program writes them. */
export function readReceipt(row: StoredRow): Receipt {
  const stopUnified = optionalText(row, "stop_unified");
  const firstContentMs = optionalNumber(row, "first_content_ms");
  const routing = optionalText(row, "routing");
  const instance = optionalText(row, "instance");
  const adjusts = optionalText(row, "adjusts");
  const pricedBy = optionalText(row, "priced_by");
  return {
    id: text(row, "id"),
    project: text(row, "project"),
    key: text(row, "key_id"),
    createdAtMs: number(row, "created_at_ms"),
    model: text(row, "model"),
    provider: text(row, "provider"),
    upstreamModel: text(row, "upstream_model"),
    verb: text(row, "verb") as Receipt["verb"],
    clientDialect: text(row, "client_dialect"),
    upstreamDialect: text(row, "upstream_dialect") as Receipt["upstreamDialect"],
    lane: text(row, "lane") as Receipt["lane"],
    stream: number(row, "stream") === 1,
    outcome: text(row, "outcome"),
    ...(stopUnified === undefined ? {} : { stop: { unified: stopUnified as UnifiedStop, raw: text(row, "stop_raw") } }),
    offers: JSON.parse(text(row, "offers")) as OfferTried[],
    fields: JSON.parse(text(row, "fields")) as FieldNote[],
    usage: readUsage(row),
    usageSource: text(row, "usage_source") as UsageSource,
    priceRule: text(row, "price_rule"),
    costNanoUsd: number(row, "cost_nano_usd"),
    ...(firstContentMs === undefined ? {} : { firstContentMs }),
    totalMs: number(row, "total_ms"),
    ...(routing === undefined ? {} : (JSON.parse(routing) as Routing)),
    ...(instance === undefined ? {} : { instance }),
    ...(adjusts === undefined ? {} : { adjusts }),
    ...(pricedBy === undefined ? {} : { pricedBy: readPricedBy(pricedBy) }),
  };
}

/** The counters of a receipt's row, or of a sum over many; what is NULL stays unknown. */
export function readUsage(row: StoredRow): Usage {
  const usage: Usage = {};
  for (const counter of USAGE_COUNTERS) {
    const value = optionalNumber(row, USAGE_COLUMNS[counter]);
    if (value !== undefined) usage[counter] = value;
  }
  return usage;
}
