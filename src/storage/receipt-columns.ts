import type { DialectName } from "../canon/dialect-name.ts";
import type { FieldNote, OfferTried, Receipt } from "../canon/receipt.ts";
import type { UnifiedStop } from "../canon/stop.ts";
import type { Usage, UsageSource } from "../canon/usage.ts";
import { USAGE_COUNTERS } from "../canon/usage.ts";
import { number, optionalNumber, optionalText, text } from "./columns.ts";
import type { Parameter, StoredRow } from "./storage.ts";

export interface ReceiptColumn {
  name: string;
  type: "TEXT" | "BIGINT" | "INTEGER" | "DOUBLE PRECISION";
  from: (receipt: Receipt) => Parameter;
}

export const USAGE_COLUMNS: Readonly<Record<keyof Usage, string>> = {
  input: "usage_input",
  cacheRead: "usage_cache_read",
  cacheWrite5m: "usage_cache_write_5m",
  cacheWrite1h: "usage_cache_write_1h",
  output: "usage_output",
  reasoning: "usage_reasoning",
  imageInput: "usage_image_input",
  imageOutput: "usage_image_output",
  images: "usage_images",
  seconds: "usage_seconds",
  searches: "usage_searches",
};

/** A whole number that a BIGINT takes, or nothing: one odd figure must not keep a batch of rows out of the ledger. */
function whole(value: number | undefined): number | null {
  if (value === undefined || Number.isNaN(value)) return null;
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Math.round(value)));
}

function fraction(value: number | undefined): number | null {
  return value !== undefined && Number.isFinite(value) ? value : null;
}

const list = (values: readonly unknown[]): string => (values.length === 0 ? "[]" : JSON.stringify(values));

/** Every column of a receipt's row, in the order in which rows are written. */
export const RECEIPT_COLUMNS: readonly ReceiptColumn[] = [
  { name: "id", type: "TEXT", from: (receipt) => receipt.id },
  { name: "project", type: "TEXT", from: (receipt) => receipt.project },
  { name: "key_id", type: "TEXT", from: (receipt) => receipt.key },
  { name: "created_at_ms", type: "BIGINT", from: (receipt) => whole(receipt.createdAtMs) ?? 0 },
  { name: "model", type: "TEXT", from: (receipt) => receipt.model },
  { name: "provider", type: "TEXT", from: (receipt) => receipt.provider },
  { name: "upstream_model", type: "TEXT", from: (receipt) => receipt.upstreamModel },
  { name: "verb", type: "TEXT", from: (receipt) => receipt.verb },
  { name: "client_dialect", type: "TEXT", from: (receipt) => receipt.clientDialect },
  { name: "upstream_dialect", type: "TEXT", from: (receipt) => receipt.upstreamDialect },
  { name: "lane", type: "TEXT", from: (receipt) => receipt.lane },
  { name: "stream", type: "INTEGER", from: (receipt) => (receipt.stream ? 1 : 0) },
  { name: "outcome", type: "TEXT", from: (receipt) => receipt.outcome },
  { name: "stop_unified", type: "TEXT", from: (receipt) => receipt.stop?.unified ?? null },
  { name: "stop_raw", type: "TEXT", from: (receipt) => receipt.stop?.raw ?? null },
  ...USAGE_COUNTERS.map(
    (counter): ReceiptColumn =>
      counter === "seconds"
        ? { name: USAGE_COLUMNS.seconds, type: "DOUBLE PRECISION", from: (receipt) => fraction(receipt.usage.seconds) }
        : { name: USAGE_COLUMNS[counter], type: "BIGINT", from: (receipt) => whole(receipt.usage[counter]) },
  ),
  { name: "usage_source", type: "TEXT", from: (receipt) => receipt.usageSource },
  { name: "price_rule", type: "TEXT", from: (receipt) => receipt.priceRule },
  { name: "cost_nano_usd", type: "BIGINT", from: (receipt) => whole(receipt.costNanoUsd) ?? 0 },
  { name: "first_content_ms", type: "BIGINT", from: (receipt) => whole(receipt.firstContentMs) },
  { name: "total_ms", type: "BIGINT", from: (receipt) => whole(receipt.totalMs) ?? 0 },
  { name: "offers", type: "TEXT", from: (receipt) => list(receipt.offers) },
  { name: "fields", type: "TEXT", from: (receipt) => list(receipt.fields) },
];

/** The row as a receipt again. Words are taken as they are stored: only this program writes them. */
export function readReceipt(row: StoredRow): Receipt {
  const stopUnified = optionalText(row, "stop_unified");
  const firstContentMs = optionalNumber(row, "first_content_ms");
  return {
    id: text(row, "id"),
    project: text(row, "project"),
    key: text(row, "key_id"),
    createdAtMs: number(row, "created_at_ms"),
    model: text(row, "model"),
    provider: text(row, "provider"),
    upstreamModel: text(row, "upstream_model"),
    verb: text(row, "verb") as Receipt["verb"],
    clientDialect: text(row, "client_dialect") as DialectName,
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
