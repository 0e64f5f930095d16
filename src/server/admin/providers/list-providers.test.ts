import { expect, test } from "bun:test";
import { ADMIN_SECRET, AdminHarness } from "../../../../testing/admin-harness.ts";
import { plainAnswer, plainUsage } from "../../../../testing/plain-answer.ts";
import type { ProvidersAnswer } from "../schemas/provider.ts";

const ANSWER = plainAnswer("chat", { text: "Hello", usage: plainUsage("chat", 1_000, 500) });

async function providers(admin: AdminHarness, query = "") {
  const { json } = await admin.ask("GET", `/api/providers${query}`, { secret: ADMIN_SECRET });
  const answer = json as unknown as ProvidersAnswer;
  const of = (name: string) => answer.data.find(({ provider }) => provider === name);
  return { answer, of };
}

test("choices 10: a provider has its last error and success, and what the ledger measured of its attempts", async () => {
  const admin = await AdminHarness.start();
  const { upstream, clock } = { upstream: admin.gateway.upstream, clock: admin.clock };
  expect((await providers(admin)).of("up-chat")).toMatchObject({
    state: null,
    last_error: null,
    last_success_at: null,
    measured: null,
  });
  const limits = { "x-ratelimit-remaining-requests": "41", "x-ratelimit-reset-requests": "2s" };
  upstream.play(upstream.json(ANSWER, 200, limits));
  await admin.gateway.call("chat");
  const answeredAt = clock.wallMs();
  await clock.pass(60_000);
  upstream.play(upstream.json({ error: { message: "Incorrect API key provided" } }, 401));
  await admin.gateway.call("chat");
  const { answer, of } = await providers(admin);
  const provider = of("up-chat");
  expect(provider).toMatchObject({
    state: "open",
    last_error: { kind: "upstream_credentials", status: 401 },
    measured: { calls: 2, failures: 1 },
    credentials: [{ label: null, state: "open", measured: { calls: 2, failures: 1 } }],
  });
  expect(provider?.last_error?.text).toContain("Incorrect API key");
  expect(JSON.stringify(answer)).not.toContain("upstream-secret");
  expect(Math.abs(Date.parse(provider?.last_success_at ?? "") - answeredAt)).toBeLessThan(1_000);
  expect(provider?.credentials[0]?.models[0]).toMatchObject({
    state: "open",
    limits: [{ header: "x-ratelimit-remaining-requests", remaining: 41 }],
  });
  expect(answer.health_of).toBe("instance_test");
  expect(of("up-genai")?.measured).toBeNull();

  await clock.pass(2 * 3_600_000);
  expect((await providers(admin)).of("up-chat")?.measured).toBeNull();
  expect((await providers(admin, "?window=24h")).of("up-chat")?.measured?.calls).toBe(2);
  expect((await admin.ask("GET", "/api/providers?window=1y", { secret: ADMIN_SECRET })).status).toBe(400);
});

test("choices 10: a provider that failed is counted although another one answered", async () => {
  const admin = await AdminHarness.start();
  const { upstream } = admin.gateway;
  for (let call = 0; call < 3; call++) {
    upstream.play(upstream.json({ error: { message: "boom" } }, 500), upstream.json(ANSWER));
    await admin.gateway.call("chat");
  }
  expect((await providers(admin)).of("up-chat")?.measured).toMatchObject({ calls: 6, failures: 3 });
});
