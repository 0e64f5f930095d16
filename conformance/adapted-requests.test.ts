import { describe, expect, test } from "bun:test";
import type { DialectName } from "../src/canon/dialect-name.ts";
import { buildCall } from "../testing/build-call.ts";
import { plainAnswer, plainUsage } from "../testing/plain-answer.ts";
import { SCRIPTED_DIALECTS } from "../testing/sampled-dialects.ts";
import { modelsOfEveryDialect, scriptedProvider } from "../testing/scripted-models.ts";
import { callGateway, errorOf } from "./support/client-calls.ts";
import { scriptedHarness } from "./support/scripted-harness.ts";
import { sendJson } from "./support/scripted-upstream.ts";

/** What existing clients send beyond the contract, and how the drop-in door handles it. */
const { upstream, gateway } = await scriptedHarness((url) => {
  const { models, ...config } = modelsOfEveryDialect(url) as { models: object[] };
  const plain = (dialect: DialectName) => ({
    id: `plain/${dialect}`,
    pricings: {},
    offers: [{ provider: scriptedProvider(dialect), model: "upstream-model", dialect }],
  });
  const routed = { id: "plain/router", pricings: {}, offers: [{ provider: "up-router", model: "upstream-model" }] };
  return {
    config: {
      ...config,
      providers: {
        ...(config as { providers: object }).providers,
        "up-router": { kind: "openrouter", base_url: `${url}/v1`, api_key: "upstream-secret-router" },
      },
      models: [...models, ...SCRIPTED_DIALECTS.map(plain), routed],
    },
  };
});

function answerAll(): void {
  upstream.play(({ path }, response) => {
    const dialect = SCRIPTED_DIALECTS.find((name) => path.includes(`/${name}`)) ?? "genai";
    sendJson(response, plainAnswer(dialect, { text: "ok", usage: plainUsage(dialect, 5, 1) }));
  });
}

/** The forwarded body, and the receipt's notes about it. */
async function sentFor(call: Promise<Response>) {
  const response = await call;
  expect(response.status).toBe(200);
  const sent = JSON.parse(upstream.seen.at(-1)?.body ?? "{}") as Record<string, unknown>;
  const { fields } = await gateway.receipt(response);
  return { sent, fields: fields.map(({ path, action }) => `${path} ${action}`) };
}

test("contract 2.12: errors of the contract door name the base URL that accepts the request", async () => {
  answerAll();
  for (const field of ["seed", "max_tokens"]) {
    const body = { [field]: 7 };
    const refused = await errorOf(await callGateway(gateway.url, "chat", gateway.key, { model: "test/chat", body }));
    expect(refused.status).toBe(400);
    const [, base = ""] = / base URL (http\S+), which accepts it\.$/.exec(refused.message) ?? [];
    expect(base).toBe(`${gateway.url}/v1`);
    const [, init] = buildCall(gateway.url, "chat", gateway.key, { model: "test/chat", body });
    expect((await fetch(`${base}/chat/completions`, init)).status).toBe(200);
  }
});

describe("contract 7: thinkingConfig for a model without thinking", () => {
  const body = {
    generationConfig: { temperature: 1.0, thinkingConfig: { includeThoughts: true, thinkingBudget: 8192 } },
  };
  const ask = (model: string, door: "contract" | "dropin", more: object = body) =>
    callGateway(gateway.url, "genai", gateway.key, { model, door, body: more as Record<string, unknown> });

  test.each(SCRIPTED_DIALECTS.map((name) => `plain/${name}`))(
    "%s: the contract door returns an error",
    async (model) => {
      const { status, message } = await errorOf(await ask(model, "contract"));
      expect([status, message]).toEqual([400, expect.stringContaining(`the model ${model} does not support thinking`)]);
    },
  );

  test.each(SCRIPTED_DIALECTS.map((name) => `plain/${name}`))(
    "%s: the drop-in door drops it and notes it in the receipt",
    async (model) => {
      answerAll();
      const { sent, fields } = await sentFor(ask(model, "dropin"));
      expect(JSON.stringify(sent)).not.toMatch(/thinking|reasoning/i);
      expect(fields).toContain("generationConfig.thinkingConfig dropped");
    },
  );

  test("the rest of the request is unchanged, and a request without thinking is not touched", async () => {
    answerAll();
    const none = { generationConfig: { thinkingConfig: { thinkingBudget: 0 }, temperature: 0.5 } };
    const { sent, fields } = await sentFor(ask("plain/genai", "dropin", none));
    expect(sent["generationConfig"]).toEqual({ temperature: 0.5 });
    expect(fields).toEqual([]);
    expect((await sentFor(ask("test/genai", "dropin"))).sent).toMatchObject(body);
  });
});

describe("an empty list of tools", () => {
  test.each([
    ["chat", { tools: [], tool_choice: "auto", parallel_tool_calls: true }, []],
    ["chat", { tools: [], tool_choice: "required" }, ["tool_choice dropped"]],
    ["messages", { tools: [], tool_choice: { type: "auto" } }, []],
    ["messages", { tools: [], tool_choice: { type: "any" } }, ["tool_choice dropped"]],
    ["genai", { tools: [] }, []],
    ["responses", { tools: [], tool_choice: "auto", parallel_tool_calls: false }, []],
    ["responses", { tools: [], tool_choice: "required" }, ["tool_choice dropped"]],
  ] as const)("%s: %j is dropped, whichever protocol the provider speaks", async (dialect, body, noted) => {
    answerAll();
    for (const target of SCRIPTED_DIALECTS) {
      const options = { door: "dropin", model: `test/${target}`, body } as const;
      const { sent, fields } = await sentFor(callGateway(gateway.url, dialect, gateway.key, options));
      expect(Object.keys(sent).filter((key) => /tool/i.test(key))).toEqual([]);
      expect(fields.filter((field) => field.startsWith("tool"))).toEqual([...noted]);
    }
  });
});

describe("H04: cache_control on a whole chat message", () => {
  const mark = { cache_control: { type: "ephemeral" } };
  const messages = [
    { role: "system", content: "A long text.", ...mark },
    { role: "user", content: "hello", ...mark },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "c1", content: "done", ...mark },
    {
      role: "user",
      content: [
        { type: "text", text: "a" },
        { type: "text", text: "b" },
      ],
      ...mark,
    },
  ];
  const tools = [{ type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }];

  test("reaches a messages provider on the last block", async () => {
    answerAll();
    const call = callGateway(gateway.url, "chat", gateway.key, {
      door: "dropin",
      model: "test/messages",
      body: { messages, tools },
    });
    const { sent, fields } = await sentFor(call);
    expect(sent["system"]).toEqual([{ type: "text", text: "A long text.", ...mark }]);
    expect(sent["messages"]).toMatchObject([
      { role: "user", content: [{ type: "text", text: "hello", ...mark }] },
      { role: "assistant", content: [{ type: "tool_use" }] },
      {
        role: "user",
        content: [
          { type: "tool_result", content: "done", ...mark },
          { type: "text", text: "a" },
          { type: "text", text: "b", ...mark },
        ],
      },
    ]);
    expect(fields).toEqual([]);
  });
});

describe("contract 2.12: an assistant message without text", () => {
  const said = { role: "assistant", content: null, refusal: null };
  const body = { messages: [{ role: "user", content: "a" }, said, { role: "user", content: "b" }] };

  test("is returned to its host unchanged at the drop-in door", async () => {
    answerAll();
    const door = "dropin";
    expect((await callGateway(gateway.url, "chat", gateway.key, { door, body })).status).toBe(200);
    expect(JSON.parse(upstream.seen[0]?.body ?? "")).toMatchObject(body);
    const refused = await errorOf(await callGateway(gateway.url, "chat", gateway.key, { body }));
    expect(refused).toMatchObject({ status: 400, message: expect.stringContaining("messages[1].content") });
  });

  test.each(["messages", "genai"])("is dropped on the way to %s", async (target) => {
    answerAll();
    for (const turn of [said, { role: "assistant" }]) {
      const messages = [{ role: "user", content: "a" }, turn, { role: "user", content: "b" }];
      const options = { door: "dropin", model: `test/${target}`, body: { messages } } as const;
      const response = await callGateway(gateway.url, "chat", gateway.key, options);
      expect(response.status).toBe(200);
    }
    for (const { body } of upstream.seen) expect(body).not.toMatch(/"role":"(assistant|model)"/);
  });
});
