import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { freePort } from "../testing/free-port.ts";
import { runProgram } from "./support/program.ts";
import { startTestGateway, TEST_ADMIN_SECRET } from "./support/test-gateway.ts";

const [PROMPT_TOKENS, COMPLETION_TOKENS] = [10, 100];
const answer = JSON.stringify({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "gpt-99",
  choices: [{ index: 0, message: { role: "assistant", content: "Hi." }, finish_reason: "stop" }],
  usage: { prompt_tokens: PROMPT_TOKENS, completion_tokens: COMPLETION_TOKENS, total_tokens: 110 },
});
const host = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { "content-type": "application/json" }).end(answer);
});
const port = freePort();
await new Promise<void>((listening) => host.listen(port, "127.0.0.1", listening));
const gateway = await startTestGateway({
  config: {
    providers: { openai: { kind: "openai", api_key: "upstream-secret", base_url: `http://127.0.0.1:${port}/v1` } },
    models: [{ id: "openai/gpt-5-mini", pricings: { prompt: [{ value: 9, unit: "perMTokens", currency: "USD" }] } }],
  },
});
afterAll(async () => {
  await gateway.stop();
  host.close();
});

const usdPerMillion = (value: number) => value / 1_000_000;

/** A list in LiteLLM's format, with one price for everything. */
function writeList(price: number): string {
  const path = join(gateway.folder, "list.json");
  const model = { litellm_provider: "openai", mode: "chat", max_input_tokens: 1_000, max_output_tokens: 100 };
  const cost = { input_cost_per_token: usdPerMillion(price), output_cost_per_token: usdPerMillion(price) };
  writeFileSync(path, JSON.stringify({ "gpt-99": { ...model, ...cost }, "gpt-5-mini": { ...model, ...cost } }));
  return path;
}

const catalogue = (...args: string[]) =>
  runProgram(["catalogue", ...args, "--config", gateway.configFile], { cwd: gateway.folder });

const call = (model: string) =>
  fetch(`${gateway.url}/api/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] }),
  });

/** Until running gateways have looked. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 60_000; !(await isSo()); await Bun.sleep(50)) {
    if (Date.now() > deadline) throw new Error("the gateway did not take the update over");
  }
}

test("decision 0097: an update is shown, applied only on request, used by the running gateway, and removed", async () => {
  expect((await call("openai/gpt-99")).status).toBe(404);
  const list = writeList(1);
  const shown = await catalogue("update", "--from", list, "--json");
  const { digest, added, held, applied } = JSON.parse(shown.stdout);
  expect(added).toEqual([{ model: "openai/gpt-99", family: "openai/gpt-5.6", priced: true }]);
  expect(held.map(({ model }: { model: string }) => model)).toContain("openai/gpt-5-mini");
  expect(applied).toBeNull();
  expect((await catalogue("list", "--json")).stdout.trim()).toBe("[]");

  const wrong = await catalogue("update", "--from", list, "--apply", "--digest", "sha256:0");
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining(digest)]);
  expect((await catalogue("list", "--json")).stdout.trim()).toBe("[]");
  const done = await catalogue("update", "--from", list, "--apply", "--digest", digest);
  expect([done.code, done.stdout]).toEqual([0, expect.stringContaining("Applied as update 1")]);

  await until(async () => (await call("openai/gpt-99")).status === 200);
  expect((await gateway.receipt(await call("openai/gpt-99"))).cost_nano_usd).toBe(110_000);
  const headers = { authorization: `Bearer ${TEST_ADMIN_SECRET}` };
  const prices = await (await fetch(`${gateway.adminUrl}/api/prices?model=openai/gpt-99`, { headers })).json();
  const price = { name: "prompt", origin: "update", source: "list.json" };
  expect(prices).toMatchObject({ data: [{ prices: expect.arrayContaining([expect.objectContaining(price)]) }] });
  const updates = await (await fetch(`${gateway.adminUrl}/api/catalogue/updates`, { headers })).json();
  expect(updates).toMatchObject({ data: [{ number: 1, source: "list.json", digest }] });

  expect((await catalogue("remove", "1")).code).toBe(0);
  await until(async () => (await call("openai/gpt-99")).status === 404);
});

test("decision 0097: a configured price wins over an update that was confirmed", async () => {
  const done = await catalogue("update", "--from", writeList(1), "--apply", "--confirm", "openai/gpt-5-mini");
  expect(done.code).toBe(0);
  await until(async () => (await call("openai/gpt-99")).status === 200);
  // The configured 9 for the prompt, the update's 1 for the completion.
  expect((await gateway.receipt(await call("openai/gpt-5-mini"))).cost_nano_usd).toBe(190_000);
});

test("decision 0097: under load, every call is priced by one catalogue or the other", async () => {
  let isOver = false;
  let calls = 0;
  const load = Array.from({ length: 16 }, async () => {
    while (!isOver) {
      const response = await call("openai/gpt-99");
      await response.arrayBuffer();
      calls++;
    }
  });
  const from = Date.now();
  for (const price of [1.4, 2, 1.5]) {
    const done = await catalogue("update", "--from", writeList(price), "--apply");
    expect(done.stdout).toContain("Applied");
    await Bun.sleep(2_500);
  }
  isOver = true;
  await Promise.all(load);
  const seconds = (Date.now() - from) / 1_000;
  await gateway.app.stop();
  const database = new Database(join(gateway.folder, "data", "trivium.db"), { readonly: true });
  const costs = database
    .query("SELECT DISTINCT cost_nano_usd AS cost FROM receipts WHERE model = 'openai/gpt-99'")
    .all();
  database.close();
  const tokens = PROMPT_TOKENS + COMPLETION_TOKENS;
  const allowed = new Set([1, 1.4, 2, 1.5].map((price) => price * tokens * 1_000));
  for (const { cost } of costs as { cost: number }[]) expect(allowed.has(cost)).toBe(true);
  expect(costs.length).toBeGreaterThanOrEqual(3);
  console.log(`${calls} calls while three updates were applied, ${Math.round(calls / seconds)} a second`);
});
