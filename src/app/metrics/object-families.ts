import { BATCH_STATES } from "../../batches/batch.ts";
import { OBJECT_KINDS, type ObjectKind } from "../../canon/ownership.ts";
import type { UploadCounts } from "../../relay/files/provider-copies.ts";
import { type Family, family, gauge } from "../../telemetry/family.ts";
import type { CountedObjects } from "../watch-objects.ts";

/** The lines that this process has run. */
export type LineOutcomes = Readonly<Record<"succeeded" | "failed", number>>;

/** Objects and batches of all instances, as of the last look, and the lines that this process has run. */
export function objectFamilies(
  counted: CountedObjects | undefined,
  { lines, uploads }: { lines: LineOutcomes; uploads: readonly UploadCounts[] },
  nowMs: number,
): Family[] {
  const uploaded = family(
    "counter",
    "trivium_provider_uploads_total",
    "Files that were uploaded to providers because they were too large for requests, by provider and outcome.",
    uploads.map(({ provider, outcome, count }) => ({ labels: { provider, outcome }, value: count })),
  );
  const run = family(
    "counter",
    "trivium_batch_lines_total",
    "Lines of batches that were run, by outcome.",
    Object.entries(lines).map(([outcome, value]) => ({ labels: { outcome }, value })),
  );
  return counted === undefined ? [run, uploaded] : [run, uploaded, ...countedFamilies(counted, nowMs)];
}

function countedFamilies({ sums, waiting }: CountedObjects, nowMs: number): Family[] {
  const total = (kind: ObjectKind, amount: "count" | "bytes") =>
    sums.reduce((sum, of) => sum + (of.kind === kind ? of[amount] : 0), 0);
  const batchesIn = (state: string) => sums.find((sum) => sum.kind === "batch" && sum.state === state)?.count ?? 0;
  return [
    family(
      "gauge",
      "trivium_objects",
      "Objects that clients have stored, such as files, across all instances.",
      OBJECT_KINDS.map((kind) => ({ labels: { kind }, value: total(kind, "count") })),
    ),
    family(
      "gauge",
      "trivium_object_bytes",
      "Size of the content of these objects.",
      OBJECT_KINDS.map((kind) => ({ labels: { kind }, value: total(kind, "bytes") })),
    ),
    family(
      "gauge",
      "trivium_batches",
      "Batches by state, across all instances.",
      BATCH_STATES.map((state) => ({ labels: { state }, value: batchesIn(state) })),
    ),
    gauge("trivium_batch_lines_waiting", "Lines of batches that wait, across all instances.", waiting.count),
    gauge(
      "trivium_batch_oldest_seconds",
      "Age of the oldest batch that has waiting lines; 0 if there is none.",
      waiting.sinceMs === undefined ? 0 : Math.max(0, nowMs - waiting.sinceMs) / 1000,
    ),
  ];
}
