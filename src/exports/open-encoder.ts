import type { ExportFormat } from "../config/export-format.ts";
import { focusEncoder } from "./focus.ts";
import { jsonlEncoder } from "./jsonl.ts";
import type { ReceiptEncoder } from "./receipt-encoder.ts";

/** How the names of its files end. */
export const EXTENSIONS: Readonly<Record<ExportFormat, string>> = {
  jsonl: "jsonl",
  parquet: "parquet",
  focus: "focus.csv",
};

/** An encoder for a file that is written at that time. */
export async function openEncoder(format: ExportFormat, nowMs: number): Promise<ReceiptEncoder> {
  if (format === "jsonl") return jsonlEncoder();
  if (format === "focus") return focusEncoder(nowMs);
  const { parquetEncoder } = await import("./parquet.ts");
  return parquetEncoder();
}
