import { beforeAll, describe, expect, test } from "bun:test";
import type { Alerts } from "../../src/alerts/alerts.ts";
import { makeAlerts } from "../../src/app/make-alerts.ts";
import { builtInModels } from "../../src/catalogue/built-in-models.ts";
import { Harness, makeMachine, UPSTREAM_URL } from "../../testing/harness.ts";
import { plainAnswer, plainUsage } from "../../testing/plain-answer.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { VirtualClock } from "../../testing/virtual-clock.ts";

/** A gateway that runs for a year, from 2026-10-25 on, without an update or a restart. */
const START = Date.UTC(2026, 9, 25);
const DAY_MS = 86_400_000;
const at = (moment: string): number => Date.parse(`${moment}Z`);
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, "2026-01-01".length);

/** A call a day to each. Azure goes on serving the last, which its vendor retires. */
const CALLED = [
  ["messages", "anthropic/claude-sonnet-4-5"],
  ["genai", "google/gemini-2.5-flash"],
  ["chat", "openai/gpt-5-mini"],
] as const;

let harness: Harness;
let alerts: Alerts;
const told: string[] = [];

beforeAll(async () => {
  const machine = await makeMachine(new VirtualClock({ startMs: START }));
  const provider = (kind: string, path = "") => ({ kind, base_url: `${UPSTREAM_URL}${path}`, api_key: "k" });
  const vendors = { gemini: provider("gemini"), anthropic: provider("anthropic"), openai: provider("openai", "/v1") };
  harness = await Harness.start({
    machine,
    config: {
      providers: { ...vendors, azure: provider("openai-compatible", "/azure/v1") },
      models: [
        {
          id: "openai/gpt-5-mini",
          offers: [
            { provider: "openai", model: "gpt-5-mini", retires_on: "2026-12-11" },
            { provider: "azure", model: "our-mini" },
          ],
        },
      ],
      alerts: { webhooks: [{ name: "hook", url: "https://hook.test/x", secret: "a-secret-of-the-hook" }] },
    },
  });
  const { gateway, storage, clock } = harness;
  alerts = makeAlerts(harness.config, {
    gateway,
    storage,
    sources: gateway,
    condition: () => ({ status: "ready", reasons: [] }),
    post: ({ body }) => {
      const { type, data } = JSON.parse(body) as { type: string; data: { model: string; days: number } };
      told.push(`${dayOf(clock.wallMs())} ${type} ${data.model} ${data.days}`);
      return Promise.resolve({ status: 200, retryAfterMs: 0, body: "" });
    },
  });
  harness.upstream.play((reply, { url }) => {
    const dialect = url.includes("generateContent") ? "genai" : url.includes("/messages") ? "messages" : "chat";
    const model = /models\/([^:]+):/.exec(url)?.[1] ?? (dialect === "chat" ? "gpt-5-mini" : "claude-sonnet-4-5");
    reply.head(200, {});
    void reply.write(JSON.stringify(plainAnswer(dialect, { text: "Hi", usage: plainUsage(dialect, 1000, 2), model })));
    reply.end();
  });
});

const passUntil = (ms: number): Promise<void> => harness.clock.pass(Math.max(0, ms - harness.clock.wallMs()));
const call = (dialect: "messages" | "genai" | "chat", model: string) =>
  harness.call(dialect, { door: "dropin", model });

async function listed(): Promise<Map<string, string | null>> {
  const { text } = await harness.get("/v1/models", { authorization: `Bearer ${TEST_KEY}` });
  const { data } = JSON.parse(text) as { data: { id: string; shutdown_date: string | null }[] };
  return new Map(data.map(({ id, shutdown_date }) => [id, shutdown_date]));
}

describe("H63: a simulated year", () => {
  test("prices change at midnight UTC, and receipts keep those of their time", async () => {
    const argon = async () => harness.receipt(await call("genai", "google/gemini-4-argon"));
    const days: string[] = [];
    for (let ms = START; ms < at("2026-11-30T23:00:00"); ms += DAY_MS) {
      await passUntil(ms + DAY_MS / 2);
      for (const [dialect, model] of CALLED) {
        const { status } = await call(dialect, model);
        if (status !== 200) days.push(`${dayOf(harness.clock.wallMs())} ${model} ${status}`);
      }
      await alerts.look();
      await harness.clock.pass(1000);
    }
    await passUntil(at("2026-11-30T23:59:59.999"));
    const before = await argon();
    await passUntil(at("2026-12-01T00:00:00"));
    const after = await argon();
    expect([before.cost_nano_usd, after.cost_nano_usd]).toEqual([2_020_000, 4_040_000]);
    expect((await harness.receiptOf(before.id)).price_rule).toBe(before.price_rule);
    expect(days).toEqual(["2026-11-30 anthropic/claude-sonnet-4-5 404"]);
  }, 60_000);

  test("users of a model are warned 30, 7 and 1 days before it ends, once each, and of no other", async () => {
    expect(told).toEqual([
      "2026-10-31 model.retiring anthropic/claude-sonnet-4-5 30",
      "2026-11-01 model.retiring google/gemini-2.5-flash 30",
      "2026-11-23 model.retiring anthropic/claude-sonnet-4-5 7",
      "2026-11-24 model.retiring google/gemini-2.5-flash 7",
      "2026-11-29 model.retiring anthropic/claude-sonnet-4-5 1",
      "2026-11-30 model.retiring google/gemini-2.5-flash 1",
    ]);
  });

  test("a call to what its vendor has retired gets 404 with what takes its place, in its own protocol", async () => {
    const messages = await call("messages", "anthropic/claude-sonnet-4-5");
    expect([messages.status, JSON.parse(messages.text)]).toEqual([
      404,
      expect.objectContaining({ type: "error", error: expect.objectContaining({ type: "not_found_error" }) }),
    ]);
    expect(messages.text).toContain("Use anthropic/claude-sonnet-5-5 in its place.");
    const genai = await call("genai", "google/gemini-2.5-flash");
    expect([genai.status, JSON.parse(genai.text).error.status]).toEqual([404, "NOT_FOUND"]);
    expect(genai.text).toContain("retired by its provider on 2026-12-01. Use google/gemini-3.5-flash-lite");
    const chat = await call("chat", "google/gemini-2.5-pro");
    expect([chat.status, JSON.parse(chat.text).error.code]).toEqual([404, "model_not_found"]);
  });

  test("an offer elsewhere goes on when the vendor's ends", async () => {
    await passUntil(at("2026-12-10T23:59:59"));
    expect((await harness.receipt(await call("chat", "openai/gpt-5-mini"))).provider).toBe("openai");
    await passUntil(at("2026-12-11T00:00:00"));
    expect((await harness.receipt(await call("chat", "openai/gpt-5-mini"))).provider).toBe("azure");
    expect((await listed()).get("openai/gpt-5-mini")).toBeNull();
  });

  test("lists have a model with its last day until that day, and no longer", async () => {
    const served = builtInModels.filter(({ id }) => /^(openai|google|anthropic)\//.test(id));
    for (let month = 0; month < 12; month++) {
      const now = harness.clock.wallMs();
      const models = await listed();
      const kept = served.filter(
        ({ id, retiresOn }) => id === "openai/gpt-5-mini" || retiresOn === undefined || Date.parse(retiresOn) > now,
      );
      expect([...models.keys()].sort()).toEqual(kept.map(({ id }) => id).sort());
      for (const { id, retiresOn = null } of kept)
        if (id !== "openai/gpt-5-mini") expect([id, models.get(id)]).toEqual([id, retiresOn]);
      await harness.clock.pass(30 * DAY_MS);
    }
  });
});
