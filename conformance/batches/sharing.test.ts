import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { atRest, eventually } from "../../testing/eventually.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { BatchClient } from "../support/batch-client.ts";
import { BatchProvider } from "../support/batch-provider.ts";
import { startTestGateway, TEST_ADMIN_SECRET, type TestGateway } from "../support/test-gateway.ts";

const provider = new BatchProvider();
const RED = "trv_red_key_of_this_test_0000001";
const BLUE = "trv_blue_key_of_this_test_000001";
const SLOW = "trv_slow_key_of_this_test_000001";
const TOKENS_A_MINUTE = 20_000;
let gateway: TestGateway;
let single: TestGateway;

beforeAll(async () => {
  const models = scriptedModels(provider.url, { first_byte: 30_000, idle: 30_000 });
  const providers = models["providers"] as Record<string, object>;
  const config = {
    ...models,
    providers: { ...providers, "up-chat": { ...providers["up-chat"], max_concurrent: 4 } },
    keys: [
      { name: "red", key: RED, project: "red" },
      { name: "blue", key: BLUE, project: "blue" },
      { name: "slow", key: SLOW, project: "slow", limits: { tokens_per_minute: TOKENS_A_MINUTE } },
    ],
  };
  gateway = await startTestGateway({ config: { ...config, batch: { max_concurrent: 8 } } });
  single = await startTestGateway({
    config: { ...config, batch: { max_concurrent: 1 }, objects: { default_days: 2 } },
  });
});
beforeEach(() => {
  provider.forget();
  provider.delayMs = 5;
  provider.refuse = () => undefined;
});
afterAll(async () => {
  await gateway.stop();
  await single.stop();
  await provider.stop();
});

const texts = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}-${index}.`);
const [red, blue, slow] = [new BatchClient(RED), new BatchClient(BLUE), new BatchClient(SLOW)];
const ask = (client: BatchClient, content: string, more: object = {}) =>
  client.post(`${gateway.url}/v1/chat/completions`, {
    model: "test/chat",
    messages: [{ role: "user", content }],
    ...more,
  });

describe("choices 12: batches share the gateway fairly", () => {
  for (const [name, at] of [
    ["eight lines at once", () => gateway],
    ["one line at once", () => single],
  ] as const) {
    test(`a small batch does not wait for the large one of another project: ${name}`, async () => {
      const { url } = at();
      const large = await red.create(url, texts("red", 600));
      await red.until(url, large, ({ request_counts }) => request_counts.completed > 5);
      const small = await blue.create(url, texts("blue", 30));
      await blue.ended(url, small);
      const first = provider.order.indexOf("blue-0.");
      const last = provider.order.indexOf("blue-29.");
      // Turn by turn: as many lines of the other project in the same time, and a few at the ends.
      expect(last - first).toBeLessThan(2 * 30 + 10);
      await red.cancel(url, large);
      const { request_counts } = await red.ended(url, large);
      expect(request_counts.completed).toBeLessThan(600);
    }, 60_000);
  }
});

test("choices 12: output files are kept for objects.default_days", async () => {
  const id = await red.create(single.url, texts("kept", 1));
  const { output_file_id } = await red.ended(single.url, id);
  const headers = { authorization: `Bearer ${RED}` };
  const answer = await fetch(`${single.url}/v1/files/${output_file_id}`, { headers });
  const { created_at, expires_at } = (await answer.json()) as { created_at: number; expires_at: number };
  expect(expires_at - created_at).toBe(2 * 24 * 60 * 60);
});

describe("choices 12: lines run below the calls of clients", () => {
  test("lines leave a part of a provider's max_concurrent free, and waiting calls come before them", async () => {
    const gate = Promise.withResolvers<void>();
    provider.gate = gate.promise;
    const id = await red.create(gateway.url, texts("below", 40));
    await red.until(gateway.url, id, () => provider.open === 3);
    expect(await atRest("the lines", () => provider.open)).toBe(3);
    const calls = ["call-0", "call-1", "call-2"].map((text) => ask(blue, text));
    await eventually("a call", () => provider.open === 4);
    expect(provider.order.filter((text) => text.startsWith("call"))).toHaveLength(1);
    gate.resolve();
    provider.gate = Promise.resolve();
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200, 200]);
    // Three slots were freed: two for the calls that waited, and then one for a line.
    expect(provider.order.slice(4, 7).filter((text) => text.startsWith("call"))).toHaveLength(2);
    expect((await red.ended(gateway.url, id)).request_counts.completed).toBe(40);
  }, 30_000);

  test("lines leave a part of tokens_per_minute to calls", async () => {
    const gate = Promise.withResolvers<void>();
    provider.gate = gate.promise;
    const body = { max_completion_tokens: 5_000 };
    const id = await slow.create(gateway.url, texts("tokens", 40), { body });
    // A third line would use more than three quarters.
    await slow.until(gateway.url, id, () => provider.open === 2);
    expect(await atRest("the lines", () => provider.open)).toBe(2);
    const call = ask(slow, "call", body);
    await eventually("the call", () => provider.open === 3);
    await slow.cancel(gateway.url, id);
    gate.resolve();
    provider.gate = Promise.resolve();
    expect((await call).status).toBe(200);
    expect((await slow.ended(gateway.url, id)).request_counts.completed).toBe(2);
  }, 30_000);

  test("a line that the provider refuses for now is run again, and has one receipt", async () => {
    let refusals = 0;
    provider.refuse = (text) => {
      if (!text.startsWith("busy") || refusals >= 12) return undefined;
      refusals++;
      return Response.json({ error: { message: "slow down" } }, { status: 429, headers: { "retry-after": "1" } });
    };
    const id = await blue.create(gateway.url, texts("busy", 5));
    const batch = await blue.ended(gateway.url, id);
    expect(batch).toMatchObject({ status: "completed", request_counts: { total: 5, completed: 5, failed: 0 } });
    expect(refusals).toBe(12);
    const headers = { authorization: `Bearer ${TEST_ADMIN_SECRET}` };
    const answer = await fetch(`${gateway.adminUrl}/api/receipts?project=blue&limit=500`, { headers });
    const { data } = (await answer.json()) as { data: { outcome: string; request_id: string }[] };
    const made = data.filter(({ request_id }) => request_id.includes(id.slice(-22)));
    expect(made.map(({ outcome }) => outcome)).toEqual(["ok", "ok", "ok", "ok", "ok"]);
  }, 60_000);
});
