import { Type } from "../../../base/type.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";
import type { ExportState } from "../../../exports/exports.ts";
import { EXTENSIONS } from "../../../exports/open-encoder.ts";
import { Timestamp } from "../schemas/answers.ts";

export const ExportItem = Type.Object(
  {
    name: Type.String(),
    to: Type.String({ description: "A folder, or s3://bucket/prefix." }),
    format: Type.Enum(Object.keys(EXTENSIONS)),
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

const moment = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString());

export function exportView({ name, to, format, everyMs, stored, lagMs, isRunning }: ExportState) {
  const { rows = 0, files = 0, lastFile, failures = 0 } = stored ?? {};
  return {
    name,
    to,
    format,
    every_seconds: everyMs / 1000,
    state: stateOf({ stored, isRunning }),
    lag_seconds: lagMs === undefined ? null : Math.round(lagMs / 1000),
    rows,
    files,
    last_file: lastFile === undefined ? null : { name: lastFile.name, at: moment(lastFile.atMs), rows: lastFile.rows },
    failures,
    failing_since: moment(stored?.failingSinceMs),
    error: stored?.error ?? null,
    next_run_at: moment(stored?.dueAtMs),
  };
}

function stateOf({ stored, isRunning }: Pick<ExportState, "isRunning"> & { stored: ExportState["stored"] }): string {
  if (stored === undefined) return "starting";
  if (isRunning) return "running";
  return stored.failures > 0 ? "failing" : "waiting";
}
