import { expect, test } from "bun:test";
import { ADMIN_SECRET, AdminHarness } from "../../../../testing/admin-harness.ts";
import { plainAnswer, plainUsage } from "../../../../testing/plain-answer.ts";

const asAdmin = { secret: ADMIN_SECRET };

test("choices 10: projects are listed with their budgets, which the spending of all their keys counts against", async () => {
  const admin = await AdminHarness.start();
  const { upstream } = admin.gateway;
  const make = async (path: string, body: object) => {
    const { json, status, text } = await admin.ask("POST", path, { ...asAdmin, body });
    if (status !== 201) throw new Error(text);
    return json["data"] as { key: string };
  };
  await make("/api/projects", { id: "shop", limits: { budget_usd_per_day: 0.008, requests_per_minute: 9 } });
  await make("/api/projects", { id: "none" });
  for (const name of ["one", "two"]) {
    const { key } = await make("/api/keys", { name, project: "shop" });
    upstream.play(upstream.json(plainAnswer("chat", { text: "Hello", usage: plainUsage("chat", 1_000, 500) })));
    const body = { model: "test/chat", max_tokens: 500, messages: [{ role: "user", content: "Hi" }] };
    expect((await admin.gateway.post("/v1/chat/completions", body, key)).status).toBe(200);
  }
  const { json } = await admin.ask("GET", "/api/projects", asAdmin);
  const projects = json["data"] as { id: string; budgets: object[] }[];
  const budgetsOf = (id: string) => projects.find((one) => one.id === id)?.budgets;
  expect(budgetsOf("none")).toEqual([]);
  expect(budgetsOf("shop")).toEqual([
    expect.objectContaining({
      window: "day",
      limit_nano_usd: 8_000_000,
      spent_nano_usd: 4_000_000,
      used_percent: 50,
    }),
  ]);
});
