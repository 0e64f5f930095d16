import { expect, test } from "bun:test";
import { expose } from "../../telemetry/text-format.ts";
import { objectFamilies } from "./object-families.ts";

test("decision 0112: objects and batches are counted by kind and state, and the oldest batch that waits has an age", () => {
  const families = objectFamilies(
    {
      sums: [
        { kind: "batch", state: "in_progress", count: 2, bytes: 10 },
        { kind: "batch", state: "failed", count: 1, bytes: 5 },
        { kind: "file", state: "uploaded", count: 4, bytes: 4_000 },
      ],
      waiting: { count: 70, sinceMs: 1_000 },
    },
    { lines: { succeeded: 9, failed: 1 }, uploads: [{ provider: "one", outcome: "failed", count: 2 }] },
    91_000,
  );
  const { text } = expose(families, "");
  for (const line of [
    'trivium_objects{kind="batch"} 3',
    'trivium_objects{kind="conversation"} 0',
    'trivium_object_bytes{kind="file"} 4000',
    'trivium_batches{state="in_progress"} 2',
    'trivium_batches{state="completed"} 0',
    'trivium_batch_lines_total{outcome="succeeded"} 9',
    'trivium_provider_uploads_total{provider="one",outcome="failed"} 2',
    "trivium_batch_lines_waiting 70",
    "trivium_batch_oldest_seconds 90",
  ]) {
    expect(text).toContain(`${line}\n`);
  }
});
