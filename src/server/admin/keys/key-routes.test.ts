import { describe, expect, test } from "bun:test";
import { ADMIN_SECRET, AdminHarness } from "../../../../testing/admin-harness.ts";
import { plainAnswer, plainUsage } from "../../../../testing/plain-answer.ts";
import type { ListedKey, ShownKey } from "../schemas/key.ts";

const ANSWER = plainAnswer("chat", { text: "Hello", usage: plainUsage("chat", 1_000, 500) });
/** At 1 and 2 dollars per million. */
const COST = 2_000_000;
const asAdmin = { secret: ADMIN_SECRET };

async function withKeys() {
  const admin = await AdminHarness.start();
  const make = async (body: object) => {
    const { json, status, text } = await admin.ask("POST", "/api/keys", { ...asAdmin, body });
    if (status !== 201) throw new Error(text);
    await admin.clock.pass(1_000);
    return json["data"] as { id: string; key: string };
  };
  const call = async (key: string) => {
    const { upstream } = admin.gateway;
    upstream.play(upstream.json(ANSWER));
    const body = { model: "test/chat", max_tokens: 500, messages: [{ role: "user", content: "Hi" }] };
    return await admin.gateway.post("/v1/chat/completions", body, key);
  };
  const list = async (query: string, secret = ADMIN_SECRET) => {
    const { json } = await admin.ask("GET", `/api/keys?${query}`, { secret });
    return json as unknown as { data: ListedKey[]; next: string | null };
  };
  const names = async (query: string) => (await list(query)).data.map(({ name }) => name);
  return { admin, make, call, list, names };
}

describe("choices 10: keys", () => {
  test("a key is shown with every setting, its budgets with forecasts, and its last day", async () => {
    const { admin, make, call } = await withKeys();
    const { id, key } = await make({
      name: "batch",
      tags: ["team-a"],
      limits: { budget_usd_per_day: 0.01, budget_usd_total: 0.004, requests_per_minute: 2 },
    });
    await admin.clock.pass(12 * 3_600_000);
    expect((await call(key)).status).toBe(200);
    expect((await call(key)).status).toBe(200);
    expect((await call(key)).status).toBe(429);
    const { json } = await admin.ask("GET", `/api/keys/${id}`, asAdmin);
    const shown = json["data"] as ShownKey;
    expect(shown).toMatchObject({
      state: "active",
      spent_nano_usd: { day: 2 * COST, total: 2 * COST },
      last_24h: { calls: 2, failures: 0, refusals: 1 },
    });
    const [day, total] = shown.budgets;
    expect(day).toMatchObject({
      window: "day",
      limit_nano_usd: 10_000_000,
      spent_nano_usd: 2 * COST,
      used_percent: 40,
    });
    expect(day?.forecast_nano_usd).toBeGreaterThan(7_900_000);
    expect(day?.forecast_nano_usd).toBeLessThanOrEqual(8_000_000);
    expect(day?.exceeds_at).toBeNull();
    expect(total).toMatchObject({ window: "total", used_percent: 100, forecast_nano_usd: null, ends_at: null });
  });

  test("the list is searched, filtered and sorted, page by page", async () => {
    const { admin, make, call, list, names } = await withKeys();
    const alpha = await make({ name: "alpha", limits: { budget_usd_total: 0.002 } });
    const beta = await make({ name: "Beta", tags: ["team-a"], expires_at: "2026-01-02" });
    await make({ name: "gamma", limits: { budget_usd_total: 5 } });
    await call(alpha.key);
    await call(beta.key);
    await call(beta.key);
    await admin.gateway.gateway.keys.refresh();

    expect(await names("text=TEAM-A")).toEqual(["Beta"]);
    expect(await names("text=%25")).toEqual([]);
    expect(await names("near_budget=true")).toEqual(["alpha"]);
    expect(await names("near_budget=false")).not.toContain("alpha");
    expect((await names("sort=spent")).slice(0, 2)).toEqual(["Beta", "alpha"]);
    expect(await names("sort=name")).toEqual(["alpha", "Beta", "gamma", "tests"]);
    expect(await names("")).toEqual(["gamma", "Beta", "alpha", "tests"]);

    const seen: string[] = [];
    for (let after = ""; ; ) {
      const { data, next } = await list(`sort=name&limit=2${after}`);
      seen.push(...data.map(({ name }) => name));
      if (next === null) break;
      after = `&after=${next}`;
    }
    expect(seen).toEqual(["alpha", "Beta", "gamma", "tests"]);

    await admin.clock.pass(48 * 3_600_000);
    expect(await names("state=expired")).toEqual(["Beta"]);
    await admin.ask("DELETE", `/api/keys/${alpha.id}`, asAdmin);
    expect(await names("state=revoked")).toEqual(["alpha"]);
    expect(await names("state=active")).toEqual(["gamma", "tests"]);
    for (const query of ["sort=cost", "state=dead", "near_budget=1", "texts=a"])
      expect((await admin.ask("GET", `/api/keys?${query}`, asAdmin)).status).toBe(400);
  });

  test("S09: an operator of one project finds no key of another, however it is searched for", async () => {
    const { admin, make, list } = await withKeys();
    for (const id of ["other", "default"])
      await admin.ask("POST", "/api/projects", { ...asAdmin, body: { id, name: id } });
    const { id } = await make({ name: "secret-plan", project: "other" });
    const secret = await admin.operator("project", "default");
    expect((await list("text=secret", secret)).data).toEqual([]);
    expect((await list("sort=spent&limit=500", secret)).data.map(({ project }) => project)).not.toContain("other");
    expect((await admin.ask("GET", `/api/keys/${id}`, { secret })).status).toBe(404);
  });

  test("every setting of a key can be changed, and removed again", async () => {
    const { admin, make } = await withKeys();
    const { id } = await make({ name: "first" });
    const change = async (body: object) => {
      const { json, status, text } = await admin.ask("PATCH", `/api/keys/${id}`, { ...asAdmin, body });
      if (status !== 200) throw new Error(text);
      return json["data"] as Record<string, unknown>;
    };
    const before = await change({ name: "second" });
    const settings = {
      models: ["test/*"],
      protocols: ["chat"],
      expires_at: "2030-01-31T00:00:00.000Z",
      limits: { requests_per_minute: 5, budget_usd_per_week: 3 },
      networks: ["10.0.0.0/8"],
      scopes: ["keys:create"],
      tags: ["team-a"],
      strict: true,
      capture: true,
      provider_objects: true,
      objects: "private",
      billing: { unpriced: "refuse" },
      end_users: { limits: { requests_per_minute: 1 }, required: true },
      limits_by_model: { "test/*": { requests_per_day: 9 } },
      limits_by_tag: { "team-*": { budget_usd_per_day: 1 } },
      routing: { max_attempts: 2 },
    };
    const after = await change(settings);
    expect(after).toMatchObject(settings);
    // Nothing that is shown is left out.
    const fixed = ["id", "from", "name", "project", "hint", "created_at", "made_by", "revoked_at", "rotated_at"];
    const shown = Object.keys(after).filter((name) => ![...fixed, "previous_until", "last_used_at"].includes(name));
    expect(shown.filter((name) => !Object.hasOwn(settings, name))).toEqual([]);
    const removed = {
      ...Object.fromEntries(Object.keys(settings).map((name) => [name, null])),
      ...{ strict: false, capture: false, provider_objects: false },
      limits: { requests_per_minute: null, budget_usd_per_week: null },
      billing: { unpriced: null },
      routing: { max_attempts: null },
    };
    expect(await change(removed)).toEqual(before);
  });
});
