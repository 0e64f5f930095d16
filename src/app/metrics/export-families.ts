import type { Exports } from "../../exports/exports.ts";
import { type Family, family } from "../../telemetry/family.ts";

/** Exports of receipts: how far they are behind, and what this process has written. None if no export is configured. */
export function exportFamilies(exports: Pick<Exports, "states" | "counts">): Family[] {
  const { counts } = exports;
  if (counts.size === 0) return [];
  const counted = (amount: "rows" | "files" | "failures") =>
    [...counts].map(([name, of]) => ({ labels: { export: name }, value: of[amount] }));
  const lags = exports
    .states()
    .flatMap(({ name, lagMs }) => (lagMs === undefined ? [] : [{ labels: { export: name }, value: lagMs / 1000 }]));
  return [
    family(
      "gauge",
      "trivium_export_lag_seconds",
      "Age of the last successful run of an export, across all instances: receipts stored since then may not be exported.",
      lags,
    ),
    family("counter", "trivium_export_rows_total", "Receipts that this process has exported.", counted("rows")),
    family("counter", "trivium_export_files_total", "Files that this process has exported.", counted("files")),
    family(
      "counter",
      "trivium_export_failures_total",
      "Runs of exports that failed in this process.",
      counted("failures"),
    ),
  ];
}
