import { describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gatewayFamilies } from "../../src/app/metrics/gateway-families.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { programsPresent } from "../../testing/is-present.ts";
import { plainAnswer, plainUsage } from "../../testing/plain-answer.ts";

const RULES = new URL("../../deploy/prometheus/trivium.rules.yaml", import.meta.url).pathname;
const MINUTES = 60;
/** When the first provider begins to fail, and when it answers again. */
const [FAILS_AT, HEALS_AT] = [5, 45];
const ANSWER = plainAnswer("chat", { text: "Hello", usage: plainUsage("chat", 10, 5) });
const WATCHED = ["trivium_attempts_total", "trivium_breaker_state"];

/**
 * What Prometheus reads each minute from a gateway that is called every three seconds, while the first of its two
 * providers fails for a while.
 */
async function scrapes(): Promise<Map<string, (number | undefined)[]>> {
  const provider = (name: string) => ({ kind: "openai", base_url: `${UPSTREAM_URL}/${name}/v1`, api_key: "a-key" });
  const harness = await Harness.start({
    config: {
      providers: { one: provider("one"), two: provider("two") },
      models: [
        { id: "acme/chat", pricings: {}, offers: ["one", "two"].map((name) => ({ provider: name, model: "m" })) },
      ],
    },
  });
  const { gateway, clock, upstream } = harness;
  let fails = false;
  upstream.play((reply, { url }) => {
    const isDown = fails && url.includes("/one/");
    reply.head(isDown ? 500 : 200, {});
    void reply.write(JSON.stringify(isDown ? { error: { message: "down" } } : ANSWER));
    reply.end();
  });
  const series = new Map<string, (number | undefined)[]>();
  for (let minute = 0; minute < MINUTES; minute++) {
    fails = minute >= FAILS_AT && minute < HEALS_AT;
    for (let call = 0; call < 20; call++) {
      expect((await harness.call("chat", { model: "acme/chat" })).status).toBe(200);
      await clock.pass(3_000 - (clock.nowMs() % 3_000));
    }
    const parts = {
      gateway,
      live: { open: 0, turns: 0 },
      condition: () => ({ status: "ready" as const, reasons: [] }),
      config: { lastReload: undefined },
      budgets: { uses: [] },
      startedMs: 0,
    };
    for (const { name, samples } of [...gateway.metrics.families(), ...gatewayFamilies(parts)]) {
      if (!WATCHED.includes(name)) continue;
      for (const { labels, value } of samples) {
        const text = Object.entries(Array.isArray(labels) ? Object.fromEntries(labels) : labels)
          .map(([label, of]) => `${label}="${of}"`)
          .join(",");
        const key = `${name}{${text},instance="a"}`;
        const values = series.get(key) ?? [];
        series.set(key, values);
        values[minute] = value;
      }
    }
  }
  return series;
}

describe("observability 5.4: TriviumProviderDown", () => {
  const canTest = programsPresent("promtool test rules with the breaker's own traffic", "promtool");

  test.skipIf(!canTest)(
    "fires while the breaker keeps calls away from a provider, until it answers again",
    async () => {
      const series = await scrapes();
      const failed =
        [...series].find(([name]) => name.includes('"one"') && name.includes("upstream_failed"))?.[1] ?? [];
      // By far fewer than the five in five minutes that a provider without a breaker would show.
      expect((failed[HEALS_AT - 1] ?? 0) - (failed[FAILS_AT + 10] ?? 0)).toBeLessThan(30);
      const alerts = (from: number, to: number, isFiring: boolean) =>
        Array.from({ length: to - from }, (_, index) => ({
          eval_time: `${from + index}m`,
          alertname: "TriviumProviderDown",
          exp_alerts: isFiring
            ? [
                {
                  exp_labels: { severity: "page", provider: "one" },
                  exp_annotations: { summary: "The provider one has not answered for five minutes." },
                },
              ]
            : [],
        }));
      const folder = mkdtempSync(join(tmpdir(), "trivium-rules-"));
      try {
        const file = join(folder, "test.json");
        const tests = {
          rule_files: [RULES],
          evaluation_interval: "1m",
          tests: [
            {
              interval: "1m",
              input_series: [...series].map(([name, values]) => ({
                series: name,
                values: Array.from(values, (value) => value ?? "_").join(" "),
              })),
              alert_rule_test: [
                ...alerts(0, FAILS_AT + 5, false),
                ...alerts(FAILS_AT + 9, HEALS_AT, true),
                ...alerts(HEALS_AT + 8, MINUTES, false),
              ],
            },
          ],
        };
        writeFileSync(file, JSON.stringify(tests));
        const { exitCode, stdout, stderr } = Bun.spawnSync(["promtool", "test", "rules", file]);
        expect([exitCode, exitCode === 0 ? "" : `${stdout}${stderr}\n${readFileSync(file, "utf8")}`]).toEqual([0, ""]);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  );
});
