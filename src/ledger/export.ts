import type { Receipt } from "../canon/receipt.ts";
import { USAGE_COUNTERS } from "../canon/usage.ts";
import type { ReceiptFilter } from "../storage/receipts/receipt-pages.ts";
import type { Storage } from "../storage/storage.ts";
import { readReceipts } from "./receipt-pages.ts";
import { receiptView } from "./receipt-view.ts";

export const EXPORT_FORMATS = ["csv", "jsonl"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

type Cell = string | number | null;

/** The columns of a receipt. Lists of offers and fields are only in the other format. */
const COLUMNS: Readonly<Record<string, (receipt: Receipt) => Cell>> = {
  id: (receipt) => receipt.id,
  created_at: (receipt) => new Date(receipt.createdAtMs).toISOString(),
  project: (receipt) => receipt.project,
  key: (receipt) => receipt.key,
  model: (receipt) => receipt.model,
  provider: (receipt) => receipt.provider,
  upstream_model: (receipt) => receipt.upstreamModel,
  verb: (receipt) => receipt.verb,
  client_dialect: (receipt) => receipt.clientDialect,
  upstream_dialect: (receipt) => receipt.upstreamDialect,
  lane: (receipt) => receipt.lane,
  stream: (receipt) => (receipt.stream ? 1 : 0),
  outcome: (receipt) => receipt.outcome,
  stop: (receipt) => receipt.stop?.unified ?? null,
  ...Object.fromEntries(
    USAGE_COUNTERS.map((counter) => [snakeCase(counter), (receipt: Receipt) => receipt.usage[counter] ?? null]),
  ),
  usage_source: (receipt) => receipt.usageSource,
  price_rule: (receipt) => receipt.priceRule,
  cost_nano_usd: (receipt) => receipt.costNanoUsd,
  cached_receipt: (receipt) => receipt.cached?.receipt ?? null,
  saved_nano_usd: (receipt) => receipt.cached?.savedNanoUsd ?? 0,
  first_content_ms: (receipt) => receipt.firstContentMs ?? null,
  total_ms: (receipt) => receipt.totalMs,
  provider_first_content_ms: (receipt) => receipt.timing?.providerFirstContentMs ?? null,
  provider_stream_ms: (receipt) => receipt.timing?.providerStreamMs ?? null,
  client_ms: (receipt) => receipt.timing?.clientMs ?? null,
  backoff_ms: (receipt) => receipt.timing?.backoffMs ?? null,
  queue_ms: (receipt) => receipt.timing?.queueMs ?? null,
  gateway_ms: (receipt) => receipt.timing?.gatewayMs ?? null,
  request_id: (receipt) => receipt.requestId ?? null,
  session_id: (receipt) => receipt.sessionId ?? null,
  trace_id: (receipt) => receipt.traceId ?? null,
  batch_id: (receipt) => receipt.batch?.id ?? null,
  batch_line: (receipt) => receipt.batch?.line ?? null,
  batch_custom_id: (receipt) => receipt.batch?.customId ?? null,
  instance: (receipt) => receipt.instance ?? null,
  adjusts: (receipt) => receipt.adjusts ?? null,
  // Tags contain no spaces.
  end_user: (receipt) => receipt.endUser ?? null,
  tags: (receipt) => receipt.tags?.join(" ") ?? null,
};

/** `cacheWrite5m` as `cache_write_5m`. */
export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]|\d+/g, (part) => `_${part.toLowerCase()}`);
}

/** The names of keys by ID. Receipts have only the ID, and a name may change. */
export type KeyNames = ReadonlyMap<string, string>;

/**
 * Every matching receipt as text in chunks, oldest first. A chunk is made on demand, so that memory does not grow with
 * the ledger, and a slow reader slows the reading down.
 */
export async function* exportReceipts(
  storage: Storage,
  filter: ReceiptFilter,
  format: ExportFormat,
  keyNames: KeyNames = new Map(),
): AsyncGenerator<string> {
  const nameOf = ({ key }: Receipt): string | null => keyNames.get(key) ?? null;
  const columns = [...Object.values(COLUMNS), nameOf];
  if (format === "csv") yield csvRow([...Object.keys(COLUMNS), "key_name"]);
  for await (const receipts of readReceipts(storage, filter)) {
    let piece = "";
    for (const receipt of receipts) {
      piece +=
        format === "csv"
          ? csvRow(columns.map((cell) => cell(receipt)))
          : `${JSON.stringify({ ...rowOf(receipt), key_name: nameOf(receipt) })}\n`;
    }
    yield piece;
  }
}

/** The receipt as its client sees it, with the fields that only operators see. */
export function rowOf(receipt: Receipt) {
  const { project, key, verb, outcome, instance = null, adjusts = null } = receipt;
  return { ...receiptView(receipt).data, project, key, verb, outcome, instance, adjusts };
}

/** What a spreadsheet would treat as a formula, whatever the cell's type. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;
const SPECIAL = /[",\r\n]/;

/**
 * One line in RFC 4180. Text that a spreadsheet would run as a formula gets an apostrophe before it: model names and
 * other values come from callers and providers.
 */
export function csvRow(cells: readonly (string | number | null)[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}

export function csvCell(value: string | number | null): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const harmless = FORMULA.test(value) ? `'${value}` : value;
  return SPECIAL.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
