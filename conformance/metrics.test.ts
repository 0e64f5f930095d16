import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createOperator } from "../src/access/operators.ts";
import { createProject } from "../src/access/projects.ts";
import { system } from "../src/base/system.ts";
import { openStorage } from "../src/storage/open.ts";
import { programsPresent } from "../testing/is-present.ts";
import { PRICED } from "./support/priced-model.ts";
import { readMetrics, sumOf } from "./support/read-metrics.ts";
import { startTestGateway, TEST_ADMIN_SECRET, type TestGateway } from "./support/test-gateway.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ config: { simulator: true, models: [PRICED] } });
  await Promise.all([
    chat({ model: "acme/priced" }),
    chat({ model: "acme/priced", stream: true }),
    chat({ model: "sim/standard", max_tokens: 8 }),
    messages(),
    chat({ model: "nobody/nothing" }),
    chat({ model: "acme/priced" }, "wrong-key-wrong-key-wrong-key"),
  ]);
});
afterAll(() => gateway.stop());

async function send(path: string, body: object, headers: Record<string, string>): Promise<void> {
  const answer = await fetch(gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  await answer.text();
}
const chat = (body: object, key = gateway.key) =>
  send(
    "/v1/chat/completions",
    { messages: [{ role: "user", content: "secret words of a prompt" }], ...body },
    { authorization: `Bearer ${key}` },
  );
const messages = () =>
  send(
    "/v1/messages",
    { model: "acme/priced", max_tokens: 8, messages: [{ role: "user", content: "hi" }] },
    { "x-api-key": gateway.key, "anthropic-version": "2023-06-01" },
  );

const scrape = (headers: Record<string, string> = { authorization: `Bearer ${TEST_ADMIN_SECRET}` }) =>
  fetch(`${gateway.adminUrl}/metrics`, { headers });

describe("observability 5.1: /metrics", () => {
  test("its totals are those of the ledger", async () => {
    const text = await (await scrape()).text();
    const metrics = readMetrics(text);
    const usage = await fetch(`${gateway.adminUrl}/api/usage?by=model`, {
      headers: { authorization: `Bearer ${TEST_ADMIN_SECRET}` },
    });
    const { data } = (await usage.json()) as { data: { calls: number; cost_nano_usd: number }[] };
    const total = (of: (row: { calls: number; cost_nano_usd: number }) => number) =>
      data.reduce((sum, row) => sum + of(row), 0);
    expect(sumOf(metrics, "trivium_calls_total")).toBe(4);
    expect(sumOf(metrics, "trivium_calls_total")).toBe(total(({ calls }) => calls));
    expect(total(({ cost_nano_usd }) => cost_nano_usd)).toBeGreaterThan(0);
    expect(sumOf(metrics, "trivium_cost_usd_total")).toBeCloseTo(total(({ cost_nano_usd }) => cost_nano_usd) / 1e9, 12);
    expect(sumOf(metrics, "trivium_refusals_total")).toBe(2);
    expect(sumOf(metrics, "trivium_call_duration_seconds_count")).toBe(4);
    expect(sumOf(metrics, "trivium_ready")).toBe(1);
    expect(sumOf(metrics, "trivium_calls_in_flight")).toBe(0);
    for (const secret of ["secret words", gateway.key, TEST_ADMIN_SECRET, "nobody/nothing"]) {
      expect(text).not.toContain(secret);
    }
  });

  test.skipIf(!programsPresent("promtool check metrics", "promtool"))("promtool reports no problem", async () => {
    const checked = Bun.spawn(["promtool", "check", "metrics"], {
      stdin: new Blob([await (await scrape()).text()]),
      stdout: "pipe",
      stderr: "pipe",
    });
    const [said, complained] = await Promise.all([checked.stdout.text(), checked.stderr.text()]);
    expect([said, complained, await checked.exited]).toEqual(["", "", 0]);
  });

  test("OpenMetrics is returned on request", async () => {
    const answer = await scrape({
      authorization: `Bearer ${TEST_ADMIN_SECRET}`,
      accept: "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5",
    });
    expect(answer.headers.get("content-type")).toStartWith("application/openmetrics-text; version=1.0.0");
    const text = await answer.text();
    expect(text).toContain("# TYPE trivium_calls counter");
    expect(text).toEndWith("# EOF\n");
  });

  test("S08: a viewer can read it; strangers, keys and operators of one project cannot", async () => {
    const storage = await openStorage(`sqlite:${gateway.folder}/data/trivium.db`, system.clock);
    const { secret: viewer } = await createOperator(storage, { name: "prometheus", role: "viewer" }, system, {
      who: "test",
    });
    await createProject(storage, { id: "one" }, system, { who: "test" });
    const { secret: ofProject } = await createOperator(
      storage,
      { name: "of one", role: "project", project: "one" },
      system,
      { who: "test" },
    );
    await storage.close();
    const statusOf = async (bearer: string) => (await scrape({ authorization: `Bearer ${bearer}` })).status;
    expect(await statusOf(viewer)).toBe(200);
    expect(await statusOf(ofProject)).toBe(403);
    expect(await statusOf(gateway.key)).toBe(401);
    expect((await scrape({})).status).toBe(401);
  });

  test("choices 10: with admin.open_metrics it needs no secret, and nothing else is open", async () => {
    const open = await startTestGateway({
      config: {
        simulator: true,
        admin: { host: "127.0.0.1", port: 0, secret: TEST_ADMIN_SECRET, open_metrics: true },
      },
    });
    try {
      expect((await fetch(`${open.adminUrl}/metrics`)).status).toBe(200);
      expect((await fetch(`${open.adminUrl}/api/config`)).status).toBe(401);
      expect((await fetch(`${open.url}/metrics`)).status).toBe(404);
    } finally {
      await open.stop();
    }
  });
});

test("observability 5.7: /readyz?verbose shows operators each part with the age of its state", async () => {
  const ask = (headers: Record<string, string> = {}) => fetch(`${gateway.adminUrl}/readyz?verbose`, { headers });
  expect((await ask()).status).toBe(401);
  const answer = await ask({ authorization: `Bearer ${TEST_ADMIN_SECRET}` });
  const body = (await answer.json()) as {
    parts: { part: string; ok: boolean; age_ms: number }[];
    providers: unknown[];
  };
  expect(body).toMatchObject({ status: "ready" });
  expect(body.parts.map(({ part, ok }) => [part, ok])).toEqual(
    ["storage", "ledger", "keys", "limits", "memory", "calls"].map((part) => [part, true]),
  );
  for (const { age_ms } of body.parts) expect(age_ms).toBeWithin(0, 60_000);
  expect(body.providers.length).toBeGreaterThan(0);
});
