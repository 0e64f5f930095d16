import type { SimulatedBatch } from "./stored-batches.ts";

/** How many lines of a batch are in which state. */
export function countResults({ lines, results }: SimulatedBatch) {
  const counts = { total: lines.length, open: 0, succeeded: 0, failed: 0, cancelled: 0, expired: 0 };
  for (const result of results) {
    if (result === undefined) counts.open++;
    else if (typeof result === "string") counts[result]++;
    else if (result.status === 200 && result.body !== undefined) counts.succeeded++;
    else counts.failed++;
  }
  return counts;
}
