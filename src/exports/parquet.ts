import { type BasicType, ByteWriter, type ColumnSource, ParquetWriter, schemaFromColumnData } from "hyparquet-writer";
import type { Receipt } from "../canon/receipt.ts";
import { USAGE_COUNTERS, type UsageCounter } from "../canon/usage.ts";
import { snakeCase } from "../ledger/export.ts";
import { receiptView } from "../ledger/receipt-view.ts";
import type { ReceiptEncoder } from "./receipt-encoder.ts";

type Value = string | number | bigint | boolean | Date | null;
type Column = readonly [name: string, type: BasicType, value: (receipt: Receipt) => Value, isRequired?: "required"];

/** Whole numbers of any size that a receipt may have. */
const whole = (value: number | undefined): bigint | null => (value === undefined ? null : BigInt(Math.round(value)));
const json = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value));
const typeOf = (counter: UsageCounter): BasicType => (counter === "seconds" ? "DOUBLE" : "INT64");

/** Lists and mappings are JSON texts, because readers differ in how they show nested columns. */
const COLUMNS: readonly Column[] = [
  ["id", "STRING", ({ id }) => id, "required"],
  ["created_at", "TIMESTAMP", ({ createdAtMs }) => new Date(createdAtMs), "required"],
  ["project", "STRING", ({ project }) => project, "required"],
  ["key", "STRING", ({ key }) => key, "required"],
  ["model", "STRING", ({ model }) => model, "required"],
  ["provider", "STRING", ({ provider }) => provider, "required"],
  ["upstream_model", "STRING", ({ upstreamModel }) => upstreamModel, "required"],
  ["verb", "STRING", ({ verb }) => verb, "required"],
  ["client_dialect", "STRING", ({ clientDialect }) => clientDialect, "required"],
  ["upstream_dialect", "STRING", ({ upstreamDialect }) => upstreamDialect, "required"],
  ["lane", "STRING", ({ lane }) => lane, "required"],
  ["stream", "BOOLEAN", ({ stream }) => stream, "required"],
  ["outcome", "STRING", ({ outcome }) => outcome, "required"],
  ["stop", "STRING", ({ stop }) => stop?.unified ?? null],
  ...USAGE_COUNTERS.map(
    (counter): Column => [
      `usage_${snakeCase(counter)}`,
      typeOf(counter),
      ({ usage }) => (counter === "seconds" ? (usage.seconds ?? null) : whole(usage[counter])),
    ],
  ),
  ["usage_tools", "STRING", ({ usage }) => json(usage.tools)],
  ["usage_source", "STRING", ({ usageSource }) => usageSource, "required"],
  ["price_rule", "STRING", ({ priceRule }) => priceRule, "required"],
  ["cost_nano_usd", "INT64", ({ costNanoUsd }) => BigInt(Math.round(costNanoUsd)), "required"],
  ["unpriced", "STRING", ({ unpriced }) => json(unpriced)],
  ["cached", "BOOLEAN", ({ cached }) => cached !== undefined, "required"],
  ["cached_receipt", "STRING", ({ cached }) => cached?.receipt ?? null],
  ["saved_nano_usd", "INT64", ({ cached }) => whole(cached?.savedNanoUsd ?? 0), "required"],
  ["first_content_ms", "INT64", ({ firstContentMs }) => whole(firstContentMs)],
  ["total_ms", "INT64", ({ totalMs }) => BigInt(Math.round(totalMs)), "required"],
  ["provider_first_content_ms", "INT64", ({ timing }) => whole(timing?.providerFirstContentMs)],
  ["provider_stream_ms", "INT64", ({ timing }) => whole(timing?.providerStreamMs)],
  ["client_ms", "INT64", ({ timing }) => whole(timing?.clientMs)],
  ["backoff_ms", "INT64", ({ timing }) => whole(timing?.backoffMs)],
  ["queue_ms", "INT64", ({ timing }) => whole(timing?.queueMs)],
  ["gateway_ms", "INT64", ({ timing }) => whole(timing?.gatewayMs)],
  ["offers", "STRING", (receipt) => json(receiptView(receipt).data.offers)],
  ["fields", "STRING", ({ fields }) => json(fields)],
  ["tags", "STRING", ({ tags }) => json(tags)],
  ["request_id", "STRING", ({ requestId }) => requestId ?? null],
  ["session_id", "STRING", ({ sessionId }) => sessionId ?? null],
  ["trace_id", "STRING", ({ traceId }) => traceId ?? null],
  ["batch_id", "STRING", ({ batch }) => batch?.id ?? null],
  ["batch_line", "INT64", ({ batch }) => whole(batch?.line)],
  ["batch_custom_id", "STRING", ({ batch }) => batch?.customId ?? null],
  ["instance", "STRING", ({ instance }) => instance ?? null],
  ["adjusts", "STRING", ({ adjusts }) => adjusts ?? null],
];

/** The receipts of one row group are in memory until it is written. */
const ROWS_IN_GROUP = 5_000;

/** Parquet, compressed with Zstandard. The footer describes a few hundred bytes for each row group. */
export function parquetEncoder(): ReceiptEncoder {
  const bytes = new ByteWriter();
  const codec = "ZSTD";
  const compressors = { [codec]: (input: Uint8Array) => Bun.zstdCompressSync(input) };
  const schema = schemaFromColumnData({ columnData: columnsOf([]) });
  const writer = new ParquetWriter({ writer: bytes, schema, codec, compressors, createdBy: "trivium" });
  let waiting: Receipt[] = [];
  const take = (): Uint8Array => {
    const taken = bytes.getBytes().slice();
    bytes.index = 0;
    return taken;
  };
  const writeGroup = () => {
    if (waiting.length > 0) void writer.write({ columnData: columnsOf(waiting), rowGroupSize: ROWS_IN_GROUP });
    waiting = [];
  };
  return {
    add: (receipts) => {
      waiting.push(...receipts);
      if (waiting.length >= ROWS_IN_GROUP) writeGroup();
      return take();
    },
    end: () => {
      writeGroup();
      void writer.finish();
      return take();
    },
  };
}

const columnsOf = (receipts: readonly Receipt[]): ColumnSource[] =>
  COLUMNS.map(([name, type, value, required]) => ({
    name,
    type,
    data: receipts.map(value),
    nullable: required === undefined,
  }));
