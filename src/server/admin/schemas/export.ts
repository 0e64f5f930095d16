import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";
import { Timestamp } from "./answers.ts";

export const ExportItem = Type.Object(
  {
    name: Type.String(),
    to: Type.String({ description: "A folder, or s3://bucket/prefix." }),
    format: Type.String({ description: "`jsonl`, `parquet` or `focus`." }),
    every_seconds: Type.Integer(),
    state: Type.Enum(["waiting", "running", "failing", "starting"]),
    lag_seconds: nullable(Type.Integer({ description: "Age of the last successful run; null before the first." })),
    rows: Type.Integer({ description: "Exported receipts. A receipt that was exported twice counts twice." }),
    files: Type.Integer(),
    last_file: nullable(Type.Object({ name: Type.String(), at: Timestamp, rows: Type.Integer() })),
    failures: Type.Integer({ description: "Failed runs since the last successful one." }),
    failing_since: nullable(Timestamp),
    error: nullable(Type.String({ description: "Why the last run failed." })),
    next_run_at: nullable(Timestamp),
  },
  { title: "Export" },
);

export type ExportItem = Static<typeof ExportItem>;
