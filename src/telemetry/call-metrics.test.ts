import { describe, expect, test } from "bun:test";
import { sampleReceipt as receipt } from "../storage/receipts/receipt.sample.ts";
import { CallMetrics } from "./call-metrics.ts";
import type { Family } from "./family.ts";
import { expose } from "./text-format.ts";

const valuesOf = (families: readonly Family[], name: string, suffix?: string) =>
  families.find((one) => one.name === name)?.samples.filter((sample) => sample.suffix === suffix) ?? [];
const sumOf = (families: readonly Family[], name: string, suffix?: string) =>
  valuesOf(families, name, suffix).reduce((sum, { value }) => sum + value, 0);

describe("observability 5: metrics are derived from receipts", () => {
  test("every receipt is counted once, in whatever batches they are read", () => {
    const metrics = new CallMetrics();
    let cost = 0;
    for (let at = 0; at < 200; at++) {
      cost += at;
      metrics.settled(receipt({ id: `rcp_${at}`, costNanoUsd: at, usage: { input: 3, cacheRead: 2, output: 5 } }));
      if (at % 7 === 0) metrics.families();
    }
    const families = metrics.families();
    expect(sumOf(families, "trivium_calls_total")).toBe(200);
    expect(sumOf(families, "trivium_tokens_total")).toBe(2000);
    expect(sumOf(families, "trivium_cost_usd_total")).toBe(cost / 1e9);
    expect(sumOf(families, "trivium_call_duration_seconds", "_count")).toBe(200);
  });

  test("attempts, fallbacks, fields and interruptions come from the receipt", () => {
    const metrics = new CallMetrics();
    metrics.settled(
      receipt({
        outcome: "upstream_failed",
        provider: "two",
        offers: [
          { provider: "one", outcome: "failed", reason: "rate_limited", ms: 5 },
          { provider: "two", outcome: "answered", ms: 7 },
        ],
        fields: [{ path: "top_k", action: "dropped", reason: "unknown" }],
        priceRule: "prompt 1 per million tokens, completion unpriced",
        unpriced: ["completion", "hologram"],
      }),
    );
    const families = metrics.families();
    const shown = (name: string) =>
      valuesOf(families, name).map(({ labels, value }) => [labels.map(([, of]) => of), value]);
    expect(shown("trivium_attempts_total")).toEqual([
      [["one", "rate_limited"], 1],
      [["two", "answered"], 1],
    ]);
    expect(shown("trivium_unpriced_calls_total")).toEqual([[[expect.any(String), "two"], 1]]);
    expect(shown("trivium_unpriced_total")).toEqual([
      [["completion"], 1],
      [["hologram"], 1],
    ]);
    expect(shown("trivium_fallbacks_total")).toEqual([[["one", "two"], 1]]);
    expect(shown("trivium_fields_total")).toEqual([[["chat", "messages", "dropped"], 1]]);
    expect(shown("trivium_stream_breaks_total")).toEqual([[["two"], 1]]);
    expect(sumOf(families, "trivium_unpriced_calls_total")).toBe(1);
  });

  test("beyond the limit, new series are counted as other, and totals stay correct", () => {
    const metrics = new CallMetrics({ maxSeries: 100 });
    for (let at = 0; at < 500; at++) {
      metrics.settled(receipt({ model: `acme/model-${at}`, costNanoUsd: 1_000, usage: { input: 1 } }));
    }
    const families = metrics.families();
    expect(sumOf(families, "trivium_calls_total")).toBe(500);
    expect(sumOf(families, "trivium_tokens_total")).toBe(500);
    expect(sumOf(families, "trivium_call_duration_seconds", "_count")).toBe(500);
    expect(sumOf(families, "trivium_metrics_dropped_series_total")).toBeGreaterThan(400);
    const all = families.reduce((sum, { samples }) => sum + samples.length, 0);
    expect(all).toBeLessThan(200);
    expect(
      valuesOf(families, "trivium_calls_total")
        .at(-1)
        ?.labels.every(([, value]) => value === "other"),
    ).toBe(true);
  });

  test("a rejected request is counted by its error kind", () => {
    const metrics = new CallMetrics();
    metrics.refused("rate_limited", "key_1", "private");
    metrics.refused("rate_limited", "key_1", "private");
    expect(sumOf(metrics.families(), "trivium_refusals_total")).toBe(2);
  });
});

describe("the exposition", () => {
  const families: Family[] = [
    {
      name: "things_total",
      help: "Things \\ in\ntwo lines.",
      type: "counter",
      samples: [{ labels: [["name", 'a "quoted"\\\nname']], value: 1e-9 }],
    },
    { name: "size", help: "Size.", type: "gauge", samples: [{ labels: [], value: Number.POSITIVE_INFINITY }] },
  ];

  test("text: names and values are escaped", () => {
    expect(expose(families, "*/*")).toEqual({
      contentType: "text/plain; version=0.0.4; charset=utf-8",
      text: [
        "# HELP things_total Things \\\\ in\\ntwo lines.",
        "# TYPE things_total counter",
        'things_total{name="a \\"quoted\\"\\\\\\nname"} 1e-9',
        "# HELP size Size.",
        "# TYPE size gauge",
        "size +Inf",
        "",
      ].join("\n"),
    });
  });

  test("OpenMetrics: the family of a counter has no suffix, and the end is marked", () => {
    const { contentType, text } = expose(families, "application/openmetrics-text;version=1.0.0,text/plain;q=0.5");
    expect(contentType).toStartWith("application/openmetrics-text");
    expect(text).toContain("# TYPE things counter\nthings_total{");
    expect(text).toEndWith("\n# EOF\n");
  });
});
