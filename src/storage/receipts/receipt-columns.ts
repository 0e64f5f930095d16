import { withoutAbsent } from "../../base/without-absent.ts";
import type { CallTiming, FieldNote, OfferTried, Receipt } from "../../canon/receipt.ts";
import type { UnifiedStop } from "../../canon/stop.ts";
import type { Usage, UsageCounter, UsageSource } from "../../canon/usage.ts";
import { USAGE_COUNTERS } from "../../canon/usage.ts";
import { number, optionalNumber, optionalText, text } from "../columns.ts";
import type { Parameter, StoredRow } from "../storage.ts";

interface ReceiptColumn {
  name: string;
  type: "TEXT" | "BIGINT" | "INTEGER" | "DOUBLE PRECISION";
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
export const word = (value: unknown): string | null => (typeof value === "string" ? value : null);

const list = (values: readonly unknown[]): string => (values.length === 0 ? "[]" : JSON.stringify(values));

const ofType =
  (type: ReceiptColumn["type"]) =>
  (name: string): ReceiptColumn => ({ name, type });

const isFraction = (counter: UsageCounter): boolean => counter === "seconds";

/** Every column of a receipt's row, in the order of `receiptValues`. */
export const RECEIPT_COLUMNS: readonly ReceiptColumn[] = [
  ...["id", "project", "key_id"].map(ofType("TEXT")),
  { name: "created_at_ms", type: "BIGINT" },
  ...["model", "provider", "upstream_model", "verb", "client_dialect", "upstream_dialect", "lane"].map(ofType("TEXT")),
  { name: "stream", type: "INTEGER" },
  ...["outcome", "stop_unified", "stop_raw"].map(ofType("TEXT")),
  ...USAGE_COUNTERS.map((counter) =>
    ofType(isFraction(counter) ? "DOUBLE PRECISION" : "BIGINT")(USAGE_COLUMNS[counter]),
  ),
  ...["usage_source", "price_rule"].map(ofType("TEXT")),
  ...["cost_nano_usd", "first_content_ms", "total_ms"].map(ofType("BIGINT")),
  ...["offers", "fields", "routing", "instance", "adjusts", "priced_by", "tags"].map(ofType("TEXT")),
  ...["request_id", "trace_id"].map(ofType("TEXT")),
  ...["provider_first_content_ms", "provider_stream_ms", "client_ms", "backoff_ms", "queue_ms"].map(ofType("BIGINT")),
  ...["batch_id", "end_user"].map(ofType("TEXT")),
];

/** The columns of a row in SQLite, where values that many rows share are in other tables. */
const ROW_COLUMNS: readonly string[] = [
  ...["id", "kind", "writer", "created_at_ms", "cost_nano_usd", "first_content_ms", "total_ms"],
  ...["offers", "fields", "routing", "adjusts", "priced_by", "tags", "request_id", "trace_id", "batch_id", "end_user"],
  ...["provider_first_content_ms", "provider_stream_ms", "client_ms", "backoff_ms", "queue_ms"],
  ...USAGE_COUNTERS.map((counter) => USAGE_COLUMNS[counter]),
];
export const INSERT_ROW = `INSERT INTO receipt_rows (${ROW_COLUMNS.join(", ")}) VALUES (${ROW_COLUMNS.map(() => "?").join(",")})
  ON CONFLICT (id) DO NOTHING`;

/**
 * The values of `INSERT_ROW`. In one piece: it runs for every call, and a function for each column costs several times
 * as much.
 */
export function rowValues(receipt: Receipt, kind: number, writer: number | null): Parameter[] {
  const { timing = NO_TIMING } = receipt;
  return [
    word(receipt.id) ?? "",
    kind,
    writer,
    whole(receipt.createdAtMs) ?? 0,
    whole(receipt.costNanoUsd) ?? 0,
    whole(receipt.firstContentMs),
    whole(receipt.totalMs) ?? 0,
    list(receipt.offers),
    list(receipt.fields),
    word(routingText(receipt)),
    word(receipt.adjusts),
    word(partsText(receipt)),
    word(tagsText(receipt.tags)),
    word(receipt.requestId),
    word(receipt.traceId),
    word(receipt.batch?.id),
    word(receipt.endUser),
    // The gateway's own time is the rest of the total, and is not stored.
    whole(timing.providerFirstContentMs),
    whole(timing.providerStreamMs),
    whole(timing.clientMs),
    whole(timing.backoffMs),
    whole(timing.queueMs),
    ...usageValues(receipt.usage),
  ];
}

const NO_TIMING: Partial<CallTiming> = {};

function readTiming(row: StoredRow, totalMs: number): Pick<Receipt, "timing"> {
  const providerFirstContentMs = optionalNumber(row, "provider_first_content_ms");
  if (providerFirstContentMs === undefined) return {};
  const providerStreamMs = number(row, "provider_stream_ms");
  const clientMs = number(row, "client_ms");
  const backoffMs = number(row, "backoff_ms");
  const queueMs = number(row, "queue_ms");
  const gatewayMs = totalMs - providerFirstContentMs - providerStreamMs - clientMs - backoffMs - queueMs;
  return { timing: { providerFirstContentMs, providerStreamMs, clientMs, backoffMs, queueMs, gatewayMs } };
}

/** In the order of `USAGE_COUNTERS`. */
function usageValues(usage: Usage): Parameter[] {
  return [
    whole(usage.input),
    whole(usage.cacheRead),
    whole(usage.cacheWrite5m),
    whole(usage.cacheWrite1h),
    whole(usage.output),
    whole(usage.reasoning),
    whole(usage.imageInput),
    whole(usage.audioInput),
    whole(usage.imageOutput),
    whole(usage.audioOutput),
    whole(usage.images),
    fraction(usage.seconds),
    whole(usage.characters),
    whole(usage.searches),
  ];
}

/** The complete row of a receipt in PostgreSQL. */
export function receiptValues(receipt: Receipt): Parameter[] {
  const { stop, timing = NO_TIMING } = receipt;
  return [
    word(receipt.id) ?? "",
    word(receipt.project) ?? "",
    word(receipt.key) ?? "",
    whole(receipt.createdAtMs) ?? 0,
    word(receipt.model) ?? "",
    word(receipt.provider) ?? "",
    word(receipt.upstreamModel) ?? "",
    word(receipt.verb) ?? "",
    word(receipt.clientDialect) ?? "",
    word(receipt.upstreamDialect) ?? "",
    word(receipt.lane) ?? "",
    receipt.stream ? 1 : 0,
    word(receipt.outcome) ?? "",
    word(stop?.unified),
    word(stop?.raw),
    ...usageValues(receipt.usage),
    word(receipt.usageSource) ?? "",
    word(receipt.priceRule) ?? "",
    whole(receipt.costNanoUsd) ?? 0,
    whole(receipt.firstContentMs),
    whole(receipt.totalMs) ?? 0,
    list(receipt.offers),
    list(receipt.fields),
    word(routingText(receipt)),
    word(receipt.instance),
    word(receipt.adjusts),
    word(pricedByText(receipt)),
    word(tagsText(receipt.tags)),
    word(receipt.requestId),
    word(receipt.traceId),
    whole(timing.providerFirstContentMs),
    whole(timing.providerStreamMs),
    whole(timing.clientMs),
    whole(timing.backoffMs),
    whole(timing.queueMs),
    word(receipt.batch?.id),
    word(receipt.endUser),
  ];
}

/** As JSON, in which no character of a tag is escaped, so that `"tag"` with its quotes can be searched for. */
export const tagsText = (tags: readonly string[] | undefined): string | undefined =>
  tags === undefined || tags.length === 0 ? undefined : JSON.stringify(tags);

export function readTags(row: StoredRow): Pick<Receipt, "tags"> {
  const tags = optionalText(row, "tags");
  return tags === undefined ? {} : { tags: JSON.parse(tags) as string[] };
}

/** The id of the prices, or a list of ids if parts have their own. */
const pricedByText = (receipt: Receipt): string | undefined => pricesIdOf(receipt) ?? partsText(receipt);

/** Undefined if parts have their own prices. */
export const pricesIdOf = ({ pricedBy }: Pick<Receipt, "pricedBy">): string | undefined =>
  pricedBy !== undefined && "id" in pricedBy ? pricedBy.id : undefined;

function partsText({ pricedBy }: Receipt): string | undefined {
  if (pricedBy === undefined || "id" in pricedBy) return undefined;
  return JSON.stringify(pricedBy.map(({ prices, usage }) => ({ prices: prices.id, usage })));
}

function readPricedBy(text: string): NonNullable<Receipt["pricedBy"]> {
  if (!text.startsWith("[")) return { id: text };
  const parts = JSON.parse(text) as { prices: string; usage: Usage }[];
  return parts.map(({ prices, usage }) => ({ prices: { id: prices }, usage }));
}

/** The rare fields of a receipt, which share one column because most calls have none of them. */
interface Rare
  extends Pick<
    Receipt,
    | "plan"
    | "continued"
    | "hedged"
    | "corrected"
    | "unpriced"
    | "batch"
    | "sessionId"
    | "require"
    | "guards"
    | "stoppedBy"
    | "cached"
    | "error"
    | "answeredBy"
  > {
  tools?: Usage["tools"];
}

function routingText(receipt: Receipt): string | undefined {
  const { plan, continued, hedged, corrected, unpriced, batch, sessionId, require, guards, stoppedBy, cached, error } =
    receipt;
  const { answeredBy } = receipt;
  const { tools } = receipt.usage;
  const isPlain = plan === undefined && continued === undefined && hedged === undefined && cached === undefined;
  const isAlone = batch === undefined && sessionId === undefined && require === undefined && guards === undefined;
  if (
    isPlain &&
    isAlone &&
    stoppedBy === undefined &&
    error === undefined &&
    answeredBy === undefined &&
    corrected === undefined &&
    unpriced === undefined &&
    tools === undefined
  )
    return undefined;
  return JSON.stringify({
    plan,
    continued,
    hedged,
    corrected,
    unpriced,
    batch,
    sessionId,
    require,
    guards,
    stoppedBy,
    cached,
    error,
    answeredBy,
    tools,
  });
}

function readRare(written: string | undefined, usage: Usage): Omit<Rare, "tools"> & Pick<Receipt, "usage"> {
  if (written === undefined) return { usage };
  const { tools, ...rare } = JSON.parse(written) as Rare;
  return { ...rare, usage: tools === undefined ? usage : { ...usage, tools } };
}

/** Reads a receipt from its row. Values are not checked: only this program writes them. */
export function readReceipt(row: StoredRow): Receipt {
  const stopUnified = optionalText(row, "stop_unified");
  const firstContentMs = optionalNumber(row, "first_content_ms");
  const routing = optionalText(row, "routing");
  const instance = optionalText(row, "instance");
  const adjusts = optionalText(row, "adjusts");
  const pricedBy = optionalText(row, "priced_by");
  const requestId = optionalText(row, "request_id");
  const traceId = optionalText(row, "trace_id");
  const totalMs = number(row, "total_ms");
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
    ...readRare(routing, readUsageColumns(row)),
    usageSource: text(row, "usage_source") as UsageSource,
    priceRule: text(row, "price_rule"),
    costNanoUsd: number(row, "cost_nano_usd"),
    ...withoutAbsent({ firstContentMs }),
    totalMs,
    ...readTiming(row, totalMs),
    ...withoutAbsent({
      requestId,
      traceId,
      instance,
      adjusts,
      endUser: optionalText(row, "end_user"),
      pricedBy: pricedBy === undefined ? undefined : readPricedBy(pricedBy),
    }),
    ...readTags(row),
  };
}

/** The counters of a receipt's row, or of a sum; NULL stays unknown. `counters`: those that the row can have. */
export function readUsageColumns(row: StoredRow, counters: readonly UsageCounter[] = USAGE_COUNTERS): Usage {
  const usage: Usage = {};
  for (const counter of counters) {
    const value = optionalNumber(row, USAGE_COLUMNS[counter]);
    if (value !== undefined) usage[counter] = value;
  }
  return usage;
}
