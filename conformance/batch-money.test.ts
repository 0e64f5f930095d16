import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { eventually } from "../testing/eventually.ts";
import { plainAnswer, plainUsage } from "../testing/plain-answer.ts";
import { scriptedModels } from "../testing/scripted-models.ts";
import { TEST_KEY } from "../testing/test-key.ts";
import { type ScriptedUpstream, sendJson, startScriptedUpstream } from "./support/scripted-upstream.ts";
import { startTestGateway, TEST_ADMIN_SECRET, type TestGateway } from "./support/test-gateway.ts";

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let client: Anthropic;
const POOR = "trv_poor_key_of_this_test_000001";

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  gateway = await startTestGateway({
    config: {
      ...scriptedModels(upstream.url),
      objects: { project_mb: 0.05 },
      keys: [
        { name: "tests", key: TEST_KEY },
        { name: "poor", key: POOR, limits: { budget_usd_total: 0.001, requests_per_minute: 10_000 } },
      ],
    },
  });
  client = new Anthropic({ baseURL: gateway.url, apiKey: TEST_KEY, maxRetries: 0 });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

const ended = (of: Anthropic, id: string) =>
  eventually("the end of the batch", async () => {
    const batch = await of.messages.batches.retrieve(id);
    return batch.processing_status === "ended" ? batch : undefined;
  });

interface Row {
  model: string;
  outcome: string;
  cost_nano_usd: number;
}

async function receipts(): Promise<Row[]> {
  const headers = { authorization: `Bearer ${TEST_ADMIN_SECRET}` };
  const answer = await fetch(`${gateway.adminUrl}/api/receipts?limit=500`, { headers });
  return ((await answer.json()) as { data: Row[] }).data;
}

const params = (model: string, more: object = {}) => ({
  model,
  max_tokens: 100,
  messages: [{ role: "user" as const, content: "Hello" }],
  ...more,
});

describe("H43: what a batch costs", () => {
  test("a line that falls back to a second model has the receipts of both", async () => {
    upstream.play(({ path }, response) => {
      const dialect = path.includes("/messages") ? ("messages" as const) : ("chat" as const);
      const usage = plainUsage(dialect, 10, 5);
      const stop = dialect === "messages" ? { stop: "refusal" } : {};
      sendJson(response, plainAnswer(dialect, { text: "Hello.", usage, ...stop }));
    });
    const before = (await receipts()).length;
    const request = params("test/messages", { fallbacks: [{ model: "test/chat" }] });
    const { id } = await client.messages.batches.create({ requests: [{ custom_id: "a", params: request as never }] });
    const batch = await ended(client, id);
    expect(batch.request_counts.succeeded).toBe(1);
    const made = (await receipts()).slice(0, -before || undefined);
    expect(made.map(({ model, outcome }) => [model, outcome]).sort()).toEqual([
      ["test/chat", "ok"],
      ["test/messages", "ok"],
    ]);
    expect(made.every(({ cost_nano_usd }) => cost_nano_usd === 20_000)).toBe(true);
  });

  test("requests that are sent inline count towards the space of the project", async () => {
    const large = params("test/messages", { messages: [{ role: "user", content: "x".repeat(60_000) }] });
    const refused = await client.messages.batches
      .create({ requests: [{ custom_id: "a", params: large }] })
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({ status: 403 });
    expect(String(refused)).toContain("objects.project_mb");
  });

  test("a batch that costs more than the budget has left does not run", async () => {
    upstream.play((_request, response) => {
      sendJson(response, plainAnswer("messages", { text: "Hello.", usage: plainUsage("messages", 10, 5) }));
    });
    const poor = new Anthropic({ baseURL: gateway.url, apiKey: POOR, maxRetries: 0 });
    const line = (custom_id: string) => ({ custom_id, params: params("test/messages") });
    const many = await poor.messages.batches.create({ requests: Array.from({ length: 50 }, (_, i) => line(`l${i}`)) });
    const refused = await ended(poor, many.id);
    expect(refused.request_counts).toEqual({ processing: 0, succeeded: 0, errored: 50, canceled: 0, expired: 0 });
    expect(upstream.seen.length).toBe(0);
    const errors: string[] = [];
    for await (const { result } of await poor.messages.batches.results(many.id)) {
      if (result.type === "errored") errors.push(result.error.error.message);
    }
    expect(errors).toHaveLength(50);
    expect(errors[0]).toContain("budget");
    const few = await ended(poor, (await poor.messages.batches.create({ requests: [line("a"), line("b")] })).id);
    expect(few.request_counts.succeeded).toBe(2);
  });
});
