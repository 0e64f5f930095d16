import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import type { Script } from "../../testing/memory-network.ts";
import { plainAnswer, plainStream, plainUsage } from "../../testing/plain-answer.ts";
import type { ScriptedDialect } from "../../testing/sampled-dialects.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { ResponsesScript } from "../../testing/wires/responses-wire.ts";
import { sdkFetch } from "../support/sdk-fetch.ts";

/** Decision 0101: the gateway itself calls the models that `fallbacks` names, whichever protocol their providers speak. */

type Json = Record<string, unknown>;

let harness: Harness;
beforeAll(async () => {
  const { models, ...config } = modelsOfEveryDialect(UPSTREAM_URL) as { models: object[] };
  const dear = [{ value: 10, unit: "perMTokens", currency: "USD" }];
  harness = await Harness.start({
    config: {
      ...config,
      models: [...models, { ...models[1], id: "test/dear", pricings: { prompt: dear, completion: dear } }],
      keys: [
        { name: "tests", key: TEST_KEY },
        { name: "narrow", key: NARROW, models: ["test/messages"] },
        { name: "routed", key: ROUTED, routing: { fallback: "test/chat" } },
        ...LIMITS.map((limits, index) => ({
          name: `limited ${index}`,
          key: limitedKey(index),
          limits_by_model: { "test/chat": limits },
        })),
      ],
    },
  });
});

/** The calls before a test. */
let earlier = new Set<string>();
beforeEach(async () => {
  earlier = new Set((await harness.receipts()).map(({ id }) => id));
});
const newReceipts = async () => (await harness.receipts()).filter(({ id }) => !earlier.has(id));

const NARROW = `sk-trv-${"n".repeat(43)}`;
const ROUTED = `sk-trv-${"r".repeat(43)}`;

/** That a model reaches with one call. */
const LIMITS = [{ requests_per_minute: 1 }, { requests_per_day: 1 }, { budget_usd_total: 0.000028 }] as const;
const limitedKey = (index: number) => `sk-trv-${"l".repeat(42)}${index}`;

const HOSTS = ["messages", "chat", "genai", "responses"] as const;
const DETAILS = { type: "refusal", category: "cyber", explanation: "Not that." };

/** How a host of each protocol declines after it has begun. */
function declined(dialect: ScriptedDialect, stream: boolean): Script {
  const usage = plainUsage(dialect, 9, 2);
  const texts = ["I ", "can"] as const;
  if (!stream) {
    const answer = plainAnswer(dialect, { text: texts.join(""), usage, stop: STOPS[dialect] });
    const ended = { messages: { stop_details: DETAILS }, responses: INCOMPLETE, chat: {}, genai: {} }[dialect];
    return harness.upstream.json({ ...answer, ...ended });
  }
  const frames = plainStream(dialect, texts, usage);
  const streamed = {
    messages: frames.replace(
      '"stop_reason":"end_turn"',
      `"stop_reason":"refusal","stop_details":${JSON.stringify(DETAILS)}`,
    ),
    chat: frames.replace('"finish_reason":"stop"', '"finish_reason":"content_filter"'),
    genai: frames.replace('"finishReason":"STOP"', '"finishReason":"SAFETY"'),
    responses: refusedResponse(texts, usage),
  }[dialect];
  return harness.upstream.stream(streamed);
}

function refusedResponse([first, second]: readonly [string, string], usage: object): string {
  const script = new ResponsesScript();
  return [
    script.begin(),
    script.delta(first),
    script.delta(second),
    script.close(),
    script.incomplete("content_filter", usage),
  ].join("");
}

const STOPS = { messages: "refusal", chat: "content_filter", genai: "SAFETY", responses: "incomplete" } as const;
const INCOMPLETE = { incomplete_details: { reason: "content_filter" } };

function answered(dialect: ScriptedDialect, stream: boolean): Script {
  const usage = plainUsage(dialect, 20, 4);
  return stream
    ? harness.upstream.stream(plainStream(dialect, ["It is ", "sunny."], usage))
    : harness.upstream.json(plainAnswer(dialect, { text: "It is sunny.", usage }));
}

const client = (key = TEST_KEY) =>
  new Anthropic({
    baseURL: "http://gateway.test",
    authToken: key,
    apiKey: null,
    maxRetries: 0,
    fetch: sdkFetch(harness),
  });

interface Asked {
  stream?: boolean;
  key?: string;
  model?: string;
  body?: Json;
}

/** Asks with the vendor's SDK, which assembles a stream itself. */
async function ask(fallbacks: unknown, { stream = false, key, model = "test/messages", body = {} }: Asked = {}) {
  const request = {
    model,
    max_tokens: 100,
    messages: [{ role: "user" as const, content: "Hello" }],
    fallbacks: fallbacks as never,
    betas: ["server-side-fallback-2026-07-01"],
    ...body,
  };
  const { messages } = client(key).beta;
  const message = stream ? await messages.stream(request).finalMessage() : await messages.create(request);
  return message as Anthropic.Beta.BetaMessage;
}

/** The message of the error; looking at the SDK's whole error takes seconds. */
const failureOf = (asking: Promise<unknown>): Promise<string> =>
  asking.then(
    () => "no error",
    (error: Error) => error.message,
  );

const seam = (from: string, to: string, category: string | null = null) => ({
  type: "fallback",
  from: { model: from },
  to: { model: to },
  trigger: { type: "refusal", category },
});

const upstreamBodies = (): Json[] => harness.upstream.requests.map(({ body }) => JSON.parse(body) as Json);

for (const stream of [false, true]) {
  describe(stream ? "streamed" : "whole", () => {
    for (const first of HOSTS) {
      for (const second of HOSTS) {
        test(`decision 0101: a ${first} host declines, a ${second} host answers`, async () => {
          harness.upstream.play(declined(first, stream), answered(second, stream));
          const from = `test/${first}`;
          const to = `test/${second}`;
          const message = await ask([{ model: to }], { stream, model: from });
          const texts = message.content.map((block) => (block.type === "text" ? block.text : block.type));
          expect(texts).toEqual(["I can", "fallback", "It is sunny."]);
          expect(message.content[1] as object).toEqual(seam(from, to, first === "messages" ? "cyber" : null));
          expect([message.stop_reason, message.usage.input_tokens, message.usage.output_tokens]).toEqual([
            "end_turn",
            20,
            4,
          ]);
          expect(message.usage.iterations).toMatchObject([
            { type: "message", model: from, input_tokens: 9, output_tokens: 2 },
            { type: "fallback_message", model: to, input_tokens: 20, output_tokens: 4 },
          ]);
          expect(upstreamBodies()).toHaveLength(2);
          for (const body of upstreamBodies()) expect(body["fallbacks"]).toBeUndefined();
          const receipts = await newReceipts();
          expect(receipts.map((one) => [one.model, one.cost_nano_usd, one.fields])).toEqual([
            [from, 9_000 + 4_000, []],
            [to, 20_000 + 8_000, []],
          ]);
          expect(harness.leftovers()).toEqual({
            runningCalls: 0,
            orphanedTexts: 0,
            orphanedImages: 0,
            heldBytes: 0,
            openUpstreams: 0,
          });
        });
      }
    }

    test("nothing changes if the requested model answers", async () => {
      harness.upstream.play(answered("messages", stream));
      const message = await ask([{ model: "test/chat" }], { stream });
      expect(message.content).toMatchObject([{ type: "text", text: "It is sunny." }]);
      expect([message.model, message.usage.iterations, harness.upstream.requests.length]).toEqual([
        "test/messages",
        undefined as never,
        1,
      ]);
    });

    test("the next model is called if one declines too, and the last refusal stands", async () => {
      harness.upstream.play(declined("messages", stream), declined("chat", stream), declined("genai", stream));
      const message = await ask([{ model: "test/chat" }, { model: "test/genai" }], { stream });
      expect(message.content.map(({ type }) => type)).toEqual(["text", "fallback", "text", "fallback", "text"]);
      expect(message.content.filter(({ type }) => (type as string) === "fallback")).toEqual([
        seam("test/messages", "test/chat", "cyber"),
        seam("test/chat", "test/genai"),
      ] as never);
      expect(message.stop_reason).toBe("refusal");
      expect(message.usage.iterations?.map(({ type }) => type)).toEqual(["message", "message", "message"]);
    });

    test("a model that cannot be called is skipped", async () => {
      const overloaded = harness.upstream.json({ error: { message: "Busy." } }, 400);
      harness.upstream.play(declined("messages", stream), overloaded, answered("genai", stream));
      const message = await ask([{ model: "test/chat" }, { model: "test/genai" }], { stream });
      expect(message.content[1] as object).toEqual(seam("test/messages", "test/genai", "cyber"));
      expect(message.stop_reason).toBe("end_turn");
    });

    for (const [index, limits] of LIMITS.entries()) {
      test(`H58: a model over its own limit of ${Object.keys(limits)[0]} is skipped`, async () => {
        const key = limitedKey(index);
        const body = { max_tokens: 4 };
        if (!stream) {
          harness.upstream.play(declined("messages", stream), answered("chat", stream));
          const first = await ask([{ model: "test/chat" }, { model: "test/genai" }], { stream, key, body });
          expect(first.content[1] as object).toEqual(seam("test/messages", "test/chat", "cyber"));
        }
        harness.upstream.play(declined("messages", stream), answered("genai", stream));
        const second = await ask([{ model: "test/chat" }, { model: "test/genai" }], { stream, key, body });
        expect(second.content[1] as object).toEqual(seam("test/messages", "test/genai", "cyber"));
        expect(harness.upstream.requests).toHaveLength(2);
      });
    }

    test("if no model can be called, the refusal names the one to call later", async () => {
      harness.upstream.play(declined("messages", stream), harness.upstream.json({ error: { message: "Bad." } }, 400));
      const message = await ask([{ model: "test/chat" }], { stream });
      expect(message.content).toMatchObject([{ type: "text", text: "I can" }]);
      expect(message.stop_reason).toBe("refusal");
      expect(message.stop_details as object).toEqual({ ...DETAILS, recommended_model: "test/chat" });
    });

    test("a provider that rejects the request for its content declines it", async () => {
      const filtered = { error: { message: "Filtered.", type: "invalid_request_error", code: "content_filter" } };
      harness.upstream.play(harness.upstream.json(filtered, 400), answered("messages", stream));
      const message = await ask([{ model: "test/dear" }], { stream, model: "test/chat" });
      expect(message.content.map(({ type }) => type)).toEqual(["fallback", "text"]);
      expect(message.usage.iterations).toMatchObject([{ type: "fallback_message", model: "test/dear" }]);
      harness.upstream.play(harness.upstream.json(filtered, 400));
      expect(await failureOf(ask([{ model: "test/chat" }], { stream, model: "test/chat" }))).toContain("Filtered");
    });

    test("each model is billed at its own price", async () => {
      harness.upstream.play(declined("messages", stream), answered("messages", stream));
      await ask([{ model: "test/dear" }], { stream });
      const receipts = await newReceipts();
      expect(receipts.map((one) => one.cost_nano_usd)).toEqual([9_000 + 4_000, 240_000]);
      expect(new Set(receipts.map((one) => one.request_id)).size).toBe(1);
    });
  });
}

describe("decision 0101: settings of an entry", () => {
  const asked = {
    thinking: { type: "between_tools" },
    output_config: { effort: "high", format: { type: "json_schema", schema: { type: "object" } } },
  };

  test("replace those of the request, and null removes them", async () => {
    harness.upstream.play(declined("messages", false), declined("messages", false), answered("messages", false));
    const entry = { model: "test/dear", max_tokens: 50, output_config: { effort: null }, thinking: null };
    await ask([entry, { model: "test/messages" }], { body: asked });
    const [first, second, third] = upstreamBodies();
    expect(first).toMatchObject({ max_tokens: 100, ...asked });
    expect(second).toMatchObject({ max_tokens: 50, output_config: { format: { type: "json_schema" } } });
    const { effort } = (second?.["output_config"] ?? {}) as { effort?: string };
    expect([second?.["thinking"], effort]).toEqual([undefined, undefined]);
    expect(third).toMatchObject({
      max_tokens: 100,
      thinking: { type: "disabled" },
      output_config: asked.output_config,
    });
  });

  test("unknown settings are noted", async () => {
    harness.upstream.play(answered("messages", false));
    await ask([{ model: "test/dear", tools: [] }]);
    const [receipt] = await newReceipts();
    expect(receipt?.fields).toMatchObject([{ path: "fallbacks[0].tools", action: "dropped" }]);
  });

  test.each([
    ["Opus", "fallbacks must be"],
    [["test/dear"], "fallbacks[0] must be"],
    [[{}], "fallbacks[0].model must be"],
    [[{ model: "test/dear", max_tokens: 0 }], "fallbacks[0].max_tokens must be"],
    [[{ model: "test/dear", thinking: 1 }], "fallbacks[0].thinking must be"],
    [Array.from({ length: 9 }, () => ({ model: "test/dear" })), "at most 8"],
    [[{ model: "test/none" }], "fallbacks[0].model"],
  ])("%j is rejected before anything is sent", async (fallbacks, message) => {
    harness.upstream.play();
    expect(await failureOf(ask(fallbacks))).toContain(message);
    expect(harness.upstream.requests).toHaveLength(0);
  });

  test("a credit for another retry cannot be combined with them", async () => {
    harness.upstream.play();
    expect(await failureOf(ask([{ model: "test/dear" }], { body: { fallback_credit_token: "t" } }))).toContain(
      "fallback_credit_token",
    );
  });

  test("S05: a key may only name models that it may call", async () => {
    harness.upstream.play();
    expect(await failureOf(ask([{ model: "test/dear" }], { key: NARROW }))).toContain(
      "may not use the model test/dear",
    );
    expect(harness.upstream.requests).toHaveLength(0);
  });

  test.each([false, true])('"default" is the model that the key falls back to, streamed: %p', async (stream) => {
    harness.upstream.play(declined("messages", stream), answered("chat", stream));
    const message = await ask("default", { key: ROUTED, stream });
    expect(message.stop_reason).toBe("end_turn");
    expect(message.content).toMatchObject([{ type: "text" }, { type: "fallback" }, { type: "text" }]);
    expect((await newReceipts()).map(({ model }) => model)).toEqual(["test/messages", "test/chat"]);
  });

  test('"default" is noted if there is no such model, and the requested model answers alone', async () => {
    harness.upstream.play(declined("messages", false));
    expect((await ask("default")).stop_reason).toBe("refusal");
    const [receipt] = await newReceipts();
    expect(receipt?.fields).toMatchObject([{ path: "fallbacks", action: "dropped" }]);
  });
});

describe("decision 0101: a conversation goes on after a fallback", () => {
  const messages = [
    { role: "user", content: "Hello" },
    {
      role: "assistant",
      content: [{ type: "text", text: "I can" }, seam("test/dear", "test/chat"), { type: "text", text: "It is." }],
    },
    { role: "user", content: "And?" },
  ];
  const sent = async (model: string) => {
    harness.upstream.play(answered(model.slice(5) as ScriptedDialect, false));
    await ask(undefined, { model, body: { messages } });
    const [receipt] = await newReceipts();
    expect(receipt?.fields).toEqual([]);
    return harness.upstream.requests[0];
  };

  test("the vendor's host gets its block and its beta", async () => {
    const { body = "", headers = {} } = (await sent("test/messages")) ?? {};
    expect([body.includes('"type":"fallback"'), headers["anthropic-beta"]]).toEqual([
      true,
      "server-side-fallback-2026-07-01",
    ]);
  });

  test.each(["test/chat", "test/genai", "test/responses"])("%s gets the texts", async (model) => {
    const { body = "" } = (await sent(model)) ?? {};
    expect([body.includes("I can"), body.includes("It is."), body.includes("fallback")]).toEqual([true, true, false]);
  });
});

test("a model that fails after the gateway has begun to wait for it in the stream is not reached", async () => {
  const late: Script = async (reply) => {
    await harness.clock.sleep(12_000);
    reply.head(400, { "content-type": "application/json" });
    void reply.write(JSON.stringify({ error: { message: "Bad." } }));
    reply.end();
  };
  harness.upstream.play(declined("messages", true), late);
  const message = await ask([{ model: "test/dear" }], { stream: true });
  expect([message.stop_reason, message.stop_details?.recommended_model]).toEqual(["refusal", "test/dear"]);
});

test("H13: a client that leaves ends the call that runs", async () => {
  harness.upstream.play(
    declined("messages", true),
    harness.upstream.openStream(wire.messageStart(), wire.textBlock("It ")),
  );
  const body = {
    model: "test/messages",
    max_tokens: 100,
    stream: true,
    messages: [{ role: "user", content: "Hello" }],
    fallbacks: [{ model: "test/dear" }],
  };
  const sent = harness.sendPost("/v1/messages", body, TEST_KEY, { "anthropic-version": "2023-06-01" });
  await harness.clock.until(sent.response);
  await harness.clock.pass(1000);
  expect(harness.upstream.requests).toHaveLength(2);
  sent.disconnect();
  await harness.clock.pass(120_000);
  expect(harness.leftovers()).toMatchObject({ runningCalls: 0, heldBytes: 0, openUpstreams: 0 });
});
