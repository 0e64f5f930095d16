import type { ExportFormat } from "../canon/export-format.ts";
import type { Receipt } from "../canon/receipt.ts";
import { focusEncoder } from "./focus.ts";
import { jsonlEncoder } from "./jsonl.ts";

/** Writes one file. */
export interface ReceiptEncoder {
  /** The next bytes of the file, perhaps none: a format may collect receipts, a bounded number of them. */
  add(receipts: readonly Receipt[]): Uint8Array;
  /** The last bytes of the file. */
  end(): Uint8Array;
}

/** How the names of its files end. */
export const EXTENSIONS: Readonly<Record<ExportFormat, string>> = {
  jsonl: "jsonl",
  parquet: "parquet",
  focus: "focus.csv",
};

/** An encoder for a file that is written at that time. */
export async function receiptEncoder(format: ExportFormat, nowMs: number): Promise<ReceiptEncoder> {
  if (format === "jsonl") return jsonlEncoder();
  if (format === "focus") return focusEncoder(nowMs);
  const { parquetEncoder } = await import("./parquet.ts");
  return parquetEncoder();
}
