import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { DeliveryCounts } from "../src/alerts/delivery-counts.ts";
import { alertFamilies } from "../src/app/metrics/alert-families.ts";
import { answerCacheFamilies } from "../src/app/metrics/answer-cache-families.ts";
import { exportFamilies } from "../src/app/metrics/export-families.ts";
import { gatewayFamilies } from "../src/app/metrics/gateway-families.ts";
import { objectFamilies } from "../src/app/metrics/object-families.ts";
import { processFamilies } from "../src/app/metrics/process-families.ts";
import { toAlerts } from "../src/config/to-alerts.ts";
import { makeCallFamilies } from "../src/telemetry/call-families.ts";
import { LoopLag } from "../src/telemetry/loop-lag.ts";
import { SeriesBudget } from "../src/telemetry/series.ts";
import { Harness } from "../testing/harness.ts";

const page = readFileSync(new URL("../docs/telemetry.md", import.meta.url), "utf8");
const rows = [...page.matchAll(/^\| `([a-z_]+)` \| (\w+) \|([^|]*)\|/gm)];

test("docs/telemetry.md lists every metric with its type, and the labels of those that receipts make", async () => {
  const harness = await Harness.start();
  const { gateway } = harness;
  const described = [
    ...gateway.metrics.families(),
    ...gatewayFamilies({
      gateway,
      live: { open: 0, turns: 0 },
      condition: () => ({ status: "ready", reasons: [] }),
      config: { lastReload: undefined },
      budgets: { uses: [] },
      startedMs: 0,
    }),
    ...alertFamilies({ settings: toAlerts(), deliveries: new DeliveryCounts() }),
    ...objectFamilies(
      { sums: [], waiting: { count: 0, sinceMs: undefined } },
      { lines: { succeeded: 0, failed: 0 }, uploads: [] },
      0,
    ),
    ...exportFamilies({ states: () => [], counts: new Map([["a", { rows: 0, files: 0, failures: 0 }]]) }),
    ...answerCacheFamilies(gateway.answerCache),
    ...processFamilies(0),
    new LoopLag().family(),
    { name: "trivium_telemetry_dropped_total", type: "counter" as const },
  ];
  const shown = Object.fromEntries(rows.map(([, name = "", type = ""]) => [name, type]));
  expect(shown).toEqual(Object.fromEntries(described.map(({ name, type }) => [name, type])));

  const labels = Object.fromEntries(rows.map(([, name = "", , of = ""]) => [name, of.trim()]));
  for (const family of Object.values(makeCallFamilies(new SeriesBudget(1_000)))) {
    const { name, labels: own } = family.description;
    expect([name, labels[name]]).toEqual([name, own.join(", ")]);
  }
  await harness.storage.close();
});
