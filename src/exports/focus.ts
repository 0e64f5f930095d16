import type { Receipt } from "../canon/receipt.ts";
import { completionTokens, promptTokens, type Usage } from "../canon/usage.ts";
import { csvCell } from "../ledger/export.ts";
import type { ReceiptEncoder } from "./receipt-encoder.ts";

/** Amounts are numbers with a fixed number of decimals, which are no formulas although they may start with a minus sign. */
interface Amount {
  nanoUsd: number;
}

type Cell = string | number | null | Amount;

interface Row {
  receipt: Receipt;
  /** When the file is written. */
  nowMs: number;
}

const NANO = 1_000_000_000n;
const DECIMALS = 9;

const cost = ({ receipt }: Row): Cell => ({ nanoUsd: receipt.costNanoUsd });
const isCorrection = ({ receipt }: Row): boolean => receipt.adjusts !== undefined;

/**
 * The columns of FOCUS 1.2: all that are mandatory, the others that a receipt has values for, and the gateway's own, which start with
 * `x_`. One receipt is one row.
 */
const COLUMNS: Readonly<Record<string, (row: Row) => Cell>> = {
  BilledCost: cost,
  BillingAccountId: ({ receipt }) => receipt.provider,
  BillingAccountName: ({ receipt }) => receipt.provider,
  BillingCurrency: () => "USD",
  BillingPeriodEnd: ({ receipt }) => dateTime(monthOf(receipt.createdAtMs, 1)),
  BillingPeriodStart: ({ receipt }) => dateTime(monthOf(receipt.createdAtMs)),
  ChargeCategory: (row) => (isCorrection(row) ? "Adjustment" : "Usage"),
  // Null within the billing period that still runs.
  ChargeClass: (row) =>
    isCorrection(row) && monthOf(row.receipt.createdAtMs) < monthOf(row.nowMs) ? "Correction" : null,
  ChargeDescription: (row) =>
    `${isCorrection(row) ? `Correction of ${row.receipt.adjusts}: ` : ""}${row.receipt.verb} with ${row.receipt.model} at ${row.receipt.provider}`,
  ChargeFrequency: () => "Usage-Based",
  ChargePeriodEnd: ({ receipt }) => dateTime(Math.max(secondsUp(receipt), second(receipt.createdAtMs) + 1_000)),
  ChargePeriodStart: ({ receipt }) => dateTime(second(receipt.createdAtMs)),
  ConsumedQuantity: (row) => (isCorrection(row) ? null : consumed(row.receipt.usage)?.quantity) ?? null,
  ConsumedUnit: (row) => (isCorrection(row) ? null : consumed(row.receipt.usage)?.unit) ?? null,
  ContractedCost: cost,
  EffectiveCost: cost,
  InvoiceIssuerName: ({ receipt }) => receipt.provider,
  ListCost: cost,
  PricingCategory: () => "Standard",
  PricingQuantity: (row) => (isCorrection(row) ? null : 1),
  PricingUnit: (row) => (isCorrection(row) ? null : "Requests"),
  ProviderName: ({ receipt }) => receipt.provider,
  // Model ids are `publisher/model`.
  PublisherName: ({ receipt }) => receipt.model.split("/", 1)[0] || receipt.provider,
  ServiceCategory: () => "AI and Machine Learning",
  ServiceName: ({ receipt }) => receipt.model,
  ServiceSubcategory: () => "Generative AI",
  SkuId: ({ receipt }) => `${receipt.provider}/${receipt.upstreamModel}`,
  SkuMeter: ({ receipt }) => receipt.verb,
  SubAccountId: ({ receipt }) => receipt.project,
  SubAccountName: ({ receipt }) => receipt.project,
  // A tag without a value has the value `true`.
  Tags: ({ receipt: { tags = [] } }) =>
    tags.length === 0 ? null : JSON.stringify(Object.fromEntries(tags.map((tag) => [tag, true]))),
  x_receipt: ({ receipt }) => receipt.id,
  x_adjusts: ({ receipt }) => receipt.adjusts ?? null,
  x_key: ({ receipt }) => receipt.key,
  x_outcome: ({ receipt }) => receipt.outcome,
  x_prompt_tokens: ({ receipt }) => (hasPrompt(receipt.usage) ? promptTokens(receipt.usage) : null),
  x_completion_tokens: ({ receipt }) => (hasCompletion(receipt.usage) ? completionTokens(receipt.usage) : null),
  x_usage_source: ({ receipt }) => receipt.usageSource,
  x_price_rule: ({ receipt }) => receipt.priceRule,
  x_saved_cost: ({ receipt }) => ({ nanoUsd: receipt.cached?.savedNanoUsd ?? 0 }),
  x_unpriced: ({ receipt }) => receipt.unpriced?.join(" ") ?? null,
};

const hasPrompt = ({ input, cacheRead, cacheWrite5m, cacheWrite1h, imageInput, audioInput }: Usage): boolean =>
  [input, cacheRead, cacheWrite5m, cacheWrite1h, imageInput, audioInput].some((count) => count !== undefined);
const hasCompletion = ({ output, reasoning, imageOutput, audioOutput }: Usage): boolean =>
  [output, reasoning, imageOutput, audioOutput].some((count) => count !== undefined);

/** What was consumed, in the unit that fits it. Unknown counters are null, never 0. */
function consumed(usage: Usage): { quantity: number; unit: string } | undefined {
  if (hasPrompt(usage) || hasCompletion(usage))
    return { quantity: promptTokens(usage) + completionTokens(usage), unit: "Tokens" };
  const { images, seconds, characters, searches } = usage;
  if (seconds !== undefined) return { quantity: seconds, unit: "Seconds" };
  if (images !== undefined) return { quantity: images, unit: "Images" };
  if (characters !== undefined) return { quantity: characters, unit: "Characters" };
  return searches === undefined ? undefined : { quantity: searches, unit: "Searches" };
}

const second = (ms: number): number => Math.floor(ms / 1_000) * 1_000;
const secondsUp = ({ createdAtMs, totalMs }: Receipt): number => Math.ceil((createdAtMs + totalMs) / 1_000) * 1_000;

/** The start of a time's month, or of a later one, in UTC. */
function monthOf(ms: number, later = 0): number {
  const date = new Date(ms);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + later);
}

const dateTime = (ms: number): string => `${new Date(ms).toISOString().slice(0, "YYYY-MM-DDTHH:mm:ss".length)}Z`;

/** Exact: a floating-point number would be printed with an exponent, or rounded. */
function decimal(nanoUsd: number): string {
  const nano = BigInt(Math.round(nanoUsd));
  const size = nano < 0n ? -nano : nano;
  return `${nano < 0n ? "-" : ""}${size / NANO}.${String(size % NANO).padStart(DECIMALS, "0")}`;
}

const cellText = (cell: Cell): string =>
  typeof cell === "object" && cell !== null ? decimal(cell.nanoUsd) : csvCell(cell);

const columns = Object.values(COLUMNS);
const HEADER = `${Object.keys(COLUMNS).join(",")}\r\n`;

/** FOCUS 1.2 as CSV. */
export function focusEncoder(nowMs: number): ReceiptEncoder {
  let isStarted = false;
  const header = () => {
    if (isStarted) return "";
    isStarted = true;
    return HEADER;
  };
  return {
    add: (receipts) => {
      const rows = receipts.map((receipt) => columns.map((cell) => cellText(cell({ receipt, nowMs }))).join(","));
      return Buffer.from(header() + rows.map((row) => `${row}\r\n`).join(""));
    },
    end: () => Buffer.from(header()),
  };
}
