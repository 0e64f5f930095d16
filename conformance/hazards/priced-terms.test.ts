import { describe, expect, test } from "bun:test";
import type { DialectName } from "../../src/canon/dialect-name.ts";
import { SCRIPTED_DIALECTS } from "../../testing/sampled-dialects.ts";
import { modelsOfEveryDialect, scriptedProvider } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { ResponsesScript, responsesAnswer, responsesUsage } from "../../testing/wires/responses-wire.ts";
import { callGateway } from "../support/client-calls.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { type Script, sendJson, startEvents } from "../support/scripted-upstream.ts";

const price = (value: number) => [{ value, unit: "perMTokens", currency: "USD" }];
const keyOf = (name: string) => `sk-trv-${name.padEnd(43, "x")}`;
const { upstream, gateway } = await scriptedHarness((url) => {
  const { models, providers } = modelsOfEveryDialect(url) as { models: object[]; providers: object };
  const known = (dialect: DialectName) => ({
    id: `test/known-${dialect}`,
    max_output_tokens: 8192,
    pricings: { prompt: price(1), completion: price(2), web_search: [{ value: 1, unit: "perCount", currency: "USD" }] },
    price_multiples: { priority: 2, fast: 6, "geo-us": 1.1, "long-context": 3 },
    offers: [{ provider: scriptedProvider(dialect), model: "upstream-model", dialect }],
  });
  return {
    config: {
      providers,
      models: [...models, ...SCRIPTED_DIALECTS.map(known)],
      keys: [
        { name: "tests", key: TEST_KEY },
        { name: "poor", key: keyOf("Poor"), limits: { budget_usd_per_day: 0.003 } },
      ],
    },
  };
});

/** A response that reports the terms on which it was served, streamed or not. */
const answering =
  (dialect: DialectName, reported: Record<string, unknown>, stream: boolean): Script =>
  (_request, response) => {
    if (stream) startEvents(response);
    switch (dialect) {
      case "chat": {
        const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
        const choices = [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }];
        if (!stream) sendJson(response, { id: "c", created: 1, model: "m", choices, usage, ...reported });
        else {
          const content = wire.chatChunk({ content: "hi" }, null, reported) + wire.chatChunk({}, "stop", reported);
          response.end(content + wire.chatUsage(usage) + wire.done);
        }
        return;
      }
      case "messages": {
        const usage = { input_tokens: 100, output_tokens: 10, ...reported };
        const content = [{ type: "text", text: "hi" }];
        const answer = {
          id: "msg_1",
          type: "message",
          role: "assistant",
          model: "m",
          content,
          stop_reason: "end_turn",
        };
        if (!stream) sendJson(response, { ...answer, usage });
        else response.end(wire.messageStart(usage) + wire.textBlock("hi") + wire.messageEnd({ output_tokens: 10 }));
        return;
      }
      case "genai": {
        const usage = { promptTokenCount: 100, candidatesTokenCount: 10, totalTokenCount: 110, ...reported };
        const content = { role: "model", parts: [{ text: "hi" }] };
        if (!stream)
          sendJson(response, { candidates: [{ index: 0, content, finishReason: "STOP" }], usageMetadata: usage });
        else response.end(wire.genaiChunk("hi", "STOP", usage));
        return;
      }
      case "responses": {
        const usage = responsesUsage(100, 10);
        if (!stream) return void sendJson(response, { ...responsesAnswer("hi", usage), ...reported });
        const script = new ResponsesScript();
        const content = script.begin() + script.delta("hi") + script.close();
        response.end(
          content + script.event("completed", { response: { ...responsesAnswer("hi", usage), ...reported } }),
        );
      }
    }
  };

const PLAIN = 100 * 1_000 + 10 * 2_000;
const sent = () => JSON.parse(upstream.seen[0]?.body ?? "{}") as Record<string, unknown>;

async function call(
  client: DialectName,
  model: string,
  options: { body?: object; stream?: boolean; headers?: object; door?: "contract" | "dropin" },
) {
  const response = await callGateway(gateway.url, client, gateway.key, {
    model,
    door: options.door ?? "dropin",
    stream: options.stream ?? false,
    body: (options.body ?? {}) as Record<string, unknown>,
    headers: (options.headers ?? {}) as Record<string, string>,
  });
  const text = await response.text();
  return { response, text, receipt: response.ok ? await gateway.receipt(response) : undefined };
}

describe("H26: other terms are billed as the response reports them", () => {
  const reported = {
    chat: { service_tier: "priority" },
    messages: { service_tier: "priority" },
    genai: { serviceTier: "PRIORITY" },
    responses: { service_tier: "priority" },
  };
  const ordinary = {
    chat: { service_tier: "default" },
    messages: { service_tier: "standard" },
    genai: { trafficType: "ON_DEMAND" },
    responses: { service_tier: "default" },
  };
  const asked = {
    chat: { service_tier: "priority" },
    messages: { service_tier: "priority" },
    genai: { serviceTier: "priority" },
    responses: { service_tier: "priority" },
  };
  const ways = SCRIPTED_DIALECTS.flatMap((dialect) => [false, true].map((stream) => [dialect, stream] as const));

  test.each(ways)("%s, stream: %p", async (dialect, stream) => {
    const options = { body: asked[dialect], stream };
    upstream.play(answering(dialect, reported[dialect], stream));
    const priority = await call(dialect, `test/known-${dialect}`, options);
    expect(sent()).toMatchObject(asked[dialect]);
    expect(priority.receipt).toMatchObject({ cost_nano_usd: 2 * PLAIN });
    expect(priority.receipt?.price_rule).toEndWith("× 2 priority");
    upstream.play(answering(dialect, ordinary[dialect], stream));
    const refused = await call(dialect, `test/known-${dialect}`, options);
    expect(refused.receipt).toMatchObject({ cost_nano_usd: PLAIN });
    upstream.play(answering(dialect, {}, stream));
    const untold = await call(dialect, `test/known-${dialect}`, options);
    expect(untold.receipt).toMatchObject({ cost_nano_usd: 2 * PLAIN });
  });

  const apart = SCRIPTED_DIALECTS.flatMap((client) =>
    SCRIPTED_DIALECTS.filter((host) => host !== client).map((host) => [client, host] as const),
  );
  test.each(apart)("a %s client of a %s host pays what that host reports", async (client, host) => {
    for (const stream of [false, true]) {
      upstream.play(answering(host, reported[host], stream));
      const { receipt } = await call(client, `test/known-${host}`, { stream });
      expect(receipt).toMatchObject({ cost_nano_usd: 2 * PLAIN });
    }
  });

  const foreign = (["chat", "messages", "genai"] as const).flatMap((host) =>
    [false, true].map((stream) => [host, stream] as const),
  );
  test.each(foreign)(
    "responses: the response of a %s host names the tier that served it, stream: %p",
    async (host, stream) => {
      for (const [told, tier] of [
        [reported[host], "priority"],
        [ordinary[host], "default"],
        // If the host does not report it, the requested tier applies.
        [{}, host === "chat" ? "priority" : "default"],
      ] as const) {
        upstream.play(answering(host, told, stream));
        const { text, receipt } = await call("responses", `test/known-${host}`, { body: asked.responses, stream });
        const last = text.match(/^data: (.*"response\.completed".*)$/m)?.[1] ?? `{"response":${text}}`;
        expect(JSON.parse(last)).toMatchObject({ response: { status: "completed", service_tier: tier } });
        // The vendor's own host accepts the tier in both of its dialects (decision 0092).
        const dropped = expect.objectContaining({ path: "service_tier", action: "dropped" });
        if (host === "chat") expect(receipt?.fields).not.toContainEqual(dropped);
        else expect(receipt?.fields).toContainEqual(dropped);
      }
    },
  );

  test("fast mode and another region combine; searches keep their price", async () => {
    const server_tool_use = { web_search_requests: 2 };
    upstream.play(answering("messages", { speed: "fast", inference_geo: "us", server_tool_use }, false));
    const { receipt } = await call("messages", "test/known-messages", { body: { speed: "fast", inference_geo: "us" } });
    expect(receipt).toMatchObject({ cost_nano_usd: Math.round(PLAIN * 6 * 1.1) + 2_000_000_000 });
  });

  test("a client sees the cost that is billed", async () => {
    upstream.play(answering("chat", reported.chat, false));
    const { text, receipt } = await call("chat", "test/known-chat", {
      body: { ...asked.chat, usage: { include: true } },
    });
    const { usage } = JSON.parse(text) as { usage: { cost: number } };
    expect(usage.cost * 1e9).toBeCloseTo(receipt?.cost_nano_usd ?? 0);
  });

  test("H23: more expensive terms are reserved", async () => {
    // 1,000 tokens at 2 USD a million are 0.002, at twice the price more than the 0.003 that the key has.
    const body = { max_completion_tokens: 1_000 };
    const options = { model: "test/known-chat", door: "dropin", key: keyOf("Poor") } as const;
    upstream.play(answering("chat", {}, false));
    const dear = { ...options, body: { ...body, ...asked.chat } };
    expect((await callGateway(gateway.url, "chat", TEST_KEY, dear)).status).toBe(402);
    expect((await callGateway(gateway.url, "chat", TEST_KEY, { ...options, body })).status).toBe(200);
  });
});

describe("H26: terms without a known price", () => {
  const ASKED = {
    messages: { speed: "fast", inference_geo: "eu" },
    genai: { serviceTier: "deferred" },
    responses: { service_tier: "ultrafast" },
  };
  const ASKING = ["messages", "genai", "responses"] as const;
  test.each(ASKING)("decision 0083, H34, %s: refused at the contract door, with the field", async (dialect) => {
    const before = upstream.seen.length;
    const { response, text } = await call(dialect, `test/${dialect}`, { body: ASKED[dialect], door: "contract" });
    expect(response.status).toBe(400);
    expect(text).toContain(Object.keys(ASKED[dialect])[0] ?? "");
    expect(text).toContain("price_multiples");
    expect(upstream.seen.length).toBe(before);
  });

  test.each(ASKING)("decision 0083, H34, %s: passed on at the drop-in door, and marked", async (dialect) => {
    upstream.play(answering(dialect, {}, false));
    const { receipt } = await call(dialect, `test/${dialect}`, { body: ASKED[dialect] });
    expect(sent()).toMatchObject(ASKED[dialect]);
    expect(receipt?.price_rule).toContain("unpriced");
    expect(receipt?.unpriced).not.toEqual([]);
  });

  test.each([
    ["messages", { Speed: "fast" }],
    ["messages", { INFERENCE_GEO: "us" }],
    ["genai", { servicetier: "priority" }],
    ["chat", { Service_Tier: "priority" }],
    ["responses", { Service_Tier: "priority" }],
  ] as const)("S15: a %s request cannot buy them under another spelling: %j", async (dialect, body) => {
    expect((await call(dialect, `test/${dialect}`, { body })).response.status).toBe(400);
  });

  test("genai: snake_case is the same field", async () => {
    const { response, text } = await call("genai", "test/genai", {
      body: { service_tier: "deferred" },
      door: "contract",
    });
    expect(response.status).toBe(400);
    expect(text).toContain("serviceTier");
  });

  test("known ones can be bought at the contract door too", async () => {
    upstream.play(answering("messages", { speed: "fast" }, false));
    const { receipt } = await call("messages", "test/known-messages", { body: { speed: "fast" }, door: "contract" });
    expect(sent()).toMatchObject({ speed: "fast" });
    expect(receipt).toMatchObject({ cost_nano_usd: 6 * PLAIN, fields: [] });
  });

  test("a beta for a longer context", async () => {
    const headers = { "partner-beta": "context-1m-2025-08-07,interleaved-thinking-2025-05-14" };
    const betas = () => upstream.seen[0]?.headers["anthropic-beta"];
    const strictly = await call("messages", "test/messages", { headers, door: "contract" });
    expect(strictly.response.status).toBe(400);
    expect(strictly.text).toContain("beta context-1m-2025-08-07");
    upstream.play(answering("messages", { input_tokens: 300_000, service_tier: "standard" }, false));
    const unpriced = await call("messages", "test/messages", { headers });
    expect(betas()).toContain("context-1m");
    expect(unpriced.receipt?.price_rule).toContain("long-context unpriced");
    const priced = await call("messages", "test/known-messages", { headers, door: "contract" });
    expect(priced.receipt).toMatchObject({ cost_nano_usd: 3 * (300_000 * 1_000 + 10 * 2_000), fields: [] });
    upstream.play(answering("messages", { service_tier: "standard" }, false));
    expect((await call("messages", "test/known-messages", { headers })).receipt).toMatchObject({
      cost_nano_usd: PLAIN,
    });
  });
});

describe("contract 2.10, choices 3: metadata and service_tier of messages", () => {
  const body = { metadata: { user_id: "u1" }, service_tier: "auto" };
  test.each([
    ["native", "messages"],
    ["translated", "chat"],
  ] as const)("contract door, %s: removed and noted; a strict call gets 400", async (_, host) => {
    upstream.play(answering(host, {}, false));
    const { receipt } = await call("messages", `test/${host}`, { body, door: "contract" });
    expect(sent()).not.toHaveProperty("metadata");
    expect(sent()).not.toHaveProperty("service_tier");
    expect(upstream.seen[0]?.body).not.toContain("u1");
    const dropped = receipt?.fields.map(({ path, action }) => [path, action]);
    expect(dropped).toContainEqual(["metadata", "dropped"]);
    expect(dropped).toContainEqual(["service_tier", "dropped"]);
    const strict = await call("messages", `test/${host}`, {
      body,
      door: "contract",
      headers: { "x-trivium-strict": "true" },
    });
    expect(strict.response.status).toBe(400);
    expect(strict.text).toContain("metadata");
  });

  test("drop-in door: forwarded", async () => {
    upstream.play(answering("messages", { service_tier: "standard" }, false));
    const { receipt } = await call("messages", "test/messages", { body });
    expect(sent()).toMatchObject(body);
    expect(receipt).toMatchObject({ fields: [], cost_nano_usd: PLAIN });
  });

  test("chat: the contract door accepts no service_tier (contract 2.12)", async () => {
    const { response } = await call("chat", "test/known-chat", {
      body: { service_tier: "priority" },
      door: "contract",
    });
    expect(response.status).toBe(400);
  });
});
