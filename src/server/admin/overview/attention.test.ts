import { describe, expect, test } from "bun:test";
import { ADMIN_SECRET, AdminHarness } from "../../../../testing/admin-harness.ts";
import { plainAnswer, plainUsage } from "../../../../testing/plain-answer.ts";
import type { BudgetUse } from "../../../access/budget.ts";
import type { Overview } from "../schemas/overview.ts";

const ANSWER = plainAnswer("chat", { text: "Hello", usage: plainUsage("chat", 1_000, 500) });
const MINUTE_MS = 60_000;

const overview = async (admin: AdminHarness, window = "1h") =>
  (await admin.ask("GET", `/api/overview?window=${window}`, { secret: ADMIN_SECRET })).json["data"] as Overview;

describe("choices 10: what needs attention", () => {
  test("a provider that fails now is named, with the time, its last error and its models", async () => {
    const admin = await AdminHarness.start();
    const { upstream } = admin.gateway;
    upstream.play(upstream.json(ANSWER));
    await admin.gateway.call("chat");
    expect((await overview(admin)).attention).toEqual([]);

    await admin.clock.pass(MINUTE_MS);
    upstream.play(upstream.json({ error: { message: "Incorrect API key provided" } }, 401));
    await admin.gateway.call("chat");
    const failedAt = new Date(admin.clock.wallMs()).toISOString();
    await admin.clock.pass(1_000);
    const [finding] = (await overview(admin)).attention;
    expect(finding).toMatchObject({
      kind: "provider_down",
      severity: "bad",
      credential: null,
      error: { kind: "upstream_credentials", status: 401 },
    });
    if (finding?.kind !== "provider_down") throw new Error("another finding");
    expect(finding.error?.text).toContain("Incorrect API key provided");
    expect(Math.abs(Date.parse(finding.since ?? "") - Date.parse(failedAt))).toBeLessThan(1_000);
    expect(finding.models).toHaveLength(1);

    // It responds again.
    await admin.clock.pass(10 * MINUTE_MS);
    upstream.play(upstream.json(ANSWER));
    await admin.gateway.call("chat");
    expect((await overview(admin)).attention).toEqual([]);
  });

  test("budgets are named when they are nearly used up, or will be before the end of their window", async () => {
    const use = (id: string, ratio: number, more: Partial<BudgetUse> = {}): BudgetUse => ({
      level: "key",
      id,
      name: id,
      window: "total",
      spentNanoUsd: ratio * 1e9,
      limitNanoUsd: 1e9,
      ratio,
      ...more,
    });
    const uses: BudgetUse[] = [];
    const admin = await AdminHarness.start({}, { budgets: () => uses });
    uses.push(use("half", 0.5), use("near", 0.8), use("over", 1.2), use("none", 1, { limitNanoUsd: 0 }));
    const found = (await overview(admin)).attention;
    expect(found.map((one) => [one.severity, one.kind === "budget" && one.id])).toEqual([
      ["bad", "over"],
      ["warn", "near"],
    ]);

    uses.splice(0, 4, ...Array.from({ length: 30 }, (_, index) => use(`k${index}`, 1)));
    expect((await overview(admin)).attention).toHaveLength(5);
  });

  test("a gateway whose parts fail says why, the most urgent first", async () => {
    const admin = await AdminHarness.start(
      {},
      {
        exports: {
          read: async () => [],
          run: async () => false,
          states: () => [
            {
              name: "bucket",
              isRunning: false,
              stored: { failures: 3, failingSinceMs: 1_000, error: "access denied" },
            } as never,
          ],
        },
      },
    );
    admin.gateway.context.condition = () => ({ status: "degraded", reasons: ["the storage does not answer"] });
    expect((await overview(admin)).attention).toEqual([
      { kind: "degraded", severity: "warn", since: null, reason: "the storage does not answer" },
      {
        kind: "export_failing",
        severity: "warn",
        since: "1970-01-01T00:00:01.000Z",
        name: "bucket",
        failures: 3,
        error: "access denied",
      },
    ]);
    admin.gateway.context.condition = () => ({ status: "not ready", reasons: ["draining"] });
    expect((await overview(admin)).attention[0]).toMatchObject({ kind: "not_ready", severity: "bad" });
  });

  test("many refused requests are named with the most frequent reason, a few are not", async () => {
    const admin = await AdminHarness.start();
    const refuse = (count: number) => {
      const refusal = { reason: "unauthenticated", addressClass: "loopback", address: "127.0.0.1" } as const;
      for (let at = 0; at < count; at++) admin.gateway.gateway.refusals.count(refusal);
      return admin.gateway.gateway.refusals.write();
    };
    await refuse(19);
    expect((await overview(admin)).attention).toEqual([]);
    await refuse(1);
    expect((await overview(admin)).attention).toMatchObject([
      { kind: "refusals", requests: 20, reason: "unauthenticated", reason_requests: 20, key: null, key_requests: 20 },
    ]);
    await admin.clock.pass(61 * MINUTE_MS);
    expect((await overview(admin)).attention).toEqual([]);
  });
});

describe("choices 10: the period before", () => {
  test("has the same amounts as the total, and is null before the ledger began", async () => {
    const admin = await AdminHarness.start();
    const { upstream } = admin.gateway;
    const call = async () => {
      upstream.play(upstream.json(ANSWER));
      await admin.gateway.call("chat");
    };
    await call();
    expect((await overview(admin, "15m")).previous).toBeNull();
    await admin.clock.pass(20 * MINUTE_MS);
    await call();
    await call();
    const { total, previous } = await overview(admin, "15m");
    expect(total.calls).toBe(2);
    expect(previous).toMatchObject({ calls: 1, failures: 0, cost_nano_usd: total.cost_nano_usd / 2 });
    expect(previous?.total_ms.p50).not.toBeNull();
    await admin.clock.pass(16 * MINUTE_MS);
    expect((await overview(admin, "15m")).previous).toMatchObject({ calls: 2, complete: true });
  });

  test("parts of the series without calls have no latency", async () => {
    const admin = await AdminHarness.start();
    const { series } = await overview(admin, "24h");
    expect(series).toHaveLength(24);
    for (const part of series) {
      expect(part.first_content_ms).toEqual({ p50: null, p95: null, p99: null });
      expect(part.total_ms).toEqual({ p50: null, p95: null, p99: null });
    }
  });
});
