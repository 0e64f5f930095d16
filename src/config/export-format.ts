/** How an export writes receipts. */
export const EXPORT_FORMATS = ["jsonl", "parquet", "focus"] as const;

export type ExportFormat = (typeof EXPORT_FORMATS)[number];
