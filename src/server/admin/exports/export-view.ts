import type { ExportState } from "../../../exports/exports.ts";

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
