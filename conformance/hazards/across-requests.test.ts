import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SCRIPTED_DIALECTS, type ScriptedDialect, type ScriptedHost } from "../../testing/sampled-dialects.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { callGateway } from "../support/client-calls.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

/** Cache marks, key order, usage and schemas between protocols. */

type Host = ScriptedHost;
const HOSTS: readonly Host[] = [...SCRIPTED_DIALECTS, "converse"];
type Json = Record<string, unknown>;

let upstream: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  const { providers, models } = modelsOfEveryDialect(upstream.url) as { providers: Json; models: Json[] };
  const like = models[0] ?? {};
  gateway = await startTestGateway({
    config: {
      providers: {
        ...providers,
        "up-converse": { kind: "bedrock", base_url: upstream.url, api_key: "upstream-secret-converse" },
        "up-marks": { kind: "openrouter", base_url: `${upstream.url}/v1`, api_key: "upstream-secret-marks" },
      },
      models: [
        ...models,
        { ...like, id: "test/converse", offers: [{ provider: "up-converse", model: "us.anthropic.claude-test-v1:0" }] },
        { ...like, id: "test/marks", offers: [{ provider: "up-marks", model: "anthropic/claude-test" }] },
      ],
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

interface Reported {
  /** JSON text, in the order that must be kept. */
  args?: string;
  usage?: Partial<Record<Host, Json>>;
}

const COUNTS: Record<Host, Json> = {
  chat: { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 },
  messages: { input_tokens: 5, output_tokens: 4 },
  genai: { promptTokenCount: 5, candidatesTokenCount: 4, totalTokenCount: 9 },
  converse: { inputTokens: 5, outputTokens: 4, totalTokens: 9 },
  responses: { input_tokens: 5, output_tokens: 4, total_tokens: 9 },
};

/** A response with one call, as each host writes it. */
function answerOf(host: Host, { args = "{}", usage = {} }: Reported): string {
  const used = JSON.stringify(usage[host] ?? COUNTS[host]);
  switch (host) {
    case "chat":
      return `{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":${JSON.stringify(args)}}}]},"finish_reason":"tool_calls"}],"usage":${used}}`;
    case "messages":
      return `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"toolu_1","name":"f","input":${args}}],"stop_reason":"tool_use","stop_sequence":null,"usage":${used}}`;
    case "genai":
      return `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"id":"f1","name":"f","args":${args}}}]},"finishReason":"STOP"}],"usageMetadata":${used}}`;
    case "converse":
      return `{"output":{"message":{"role":"assistant","content":[{"toolUse":{"toolUseId":"tool1","name":"f","input":${args}}}]}},"stopReason":"tool_use","usage":${used},"metrics":{"latencyMs":1}}`;
    case "responses":
      return `{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"m","output":[{"type":"function_call","id":"fc_1","call_id":"call_1","status":"completed","name":"f","arguments":${JSON.stringify(args)}}],"usage":${used}}`;
    default:
      return host satisfies never;
  }
}

const play = (host: Host, reported: Reported = {}) =>
  upstream.play((_request, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(answerOf(host, reported));
  });

/** Without spaces and escapes, only the keys remain, in order. */
const bare = (text: string) => text.replaceAll(/[\s\\]/g, "");

async function call(client: ScriptedDialect, host: string, body: Json): Promise<Response> {
  const response = await callGateway(gateway.url, client, gateway.key, { model: `test/${host}`, body });
  expect(response.status).toBe(200);
  return response;
}

describe("key order", () => {
  const ARGS = '{"10":1,"2":2,"b":3,"a":{"7":0,"3":0}}';
  const SCHEMA =
    '{"type":"object","properties":{"10":{"type":"string"},"2":{"type":"number"},"b":{"type":"string"},"a":{"type":"string"}}}';
  /** Bodies as text: a JavaScript object would reorder its keys before they are sent. */
  const BODIES: Record<ScriptedDialect, string> = {
    chat: `"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":${JSON.stringify(ARGS)}}}]},{"role":"tool","tool_call_id":"call_1","content":"ok"}],"tools":[{"type":"function","function":{"name":"f","parameters":${SCHEMA}}}]`,
    messages: `"max_tokens":100,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"f","input":${ARGS}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"ok"}]}],"tools":[{"name":"f","input_schema":${SCHEMA}}]`,
    genai: `"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":${ARGS}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"ok"}}}]}],"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":${SCHEMA}}]}]`,
    responses: `"input":[{"role":"user","content":"hi"},{"type":"function_call","call_id":"call_1","name":"f","arguments":${JSON.stringify(ARGS)}},{"type":"function_call_output","call_id":"call_1","output":"ok"}],"tools":[{"type":"function","name":"f","parameters":${SCHEMA}}]`,
  };
  const PATHS: Record<ScriptedDialect, (host: Host) => string> = {
    chat: () => "/api/v1/chat/completions",
    messages: () => "/api/msg/v1/messages",
    genai: (host) => `/api/genai/v1/publishers/test/models/${host}:generateContent`,
    responses: () => "/api/v1/responses",
  };

  for (const client of SCRIPTED_DIALECTS) {
    test.each(HOSTS.filter((host) => host !== client))(
      `H05: integer-like keys of arguments and schemas keep their order, ${client} client and %s host, both ways`,
      async (host) => {
        play(host, { args: ARGS });
        const response = await fetch(gateway.url + PATHS[client](host), {
          method: "POST",
          headers: {
            "content-type": "application/json",
            authorization: `Bearer ${gateway.key}`,
            "partner-version": "2023-06-01",
          },
          body: `{${client === "genai" ? "" : `"model":"test/${host}",`}${BODIES[client]}}`,
        });
        expect(bare(await response.text())).toContain(ARGS);
        const sent = bare(upstream.seen[0]?.body ?? "");
        expect(sent).toContain(ARGS);
        const offsets = ['"10":{"type"', '"2":{"type"', '"b":{"type"', '"a":{"type"'].map((key) => sent.indexOf(key));
        expect(offsets).toEqual(offsets.toSorted((one, other) => one - other));
        expect(offsets[0]).toBeGreaterThan(0);
      },
    );
  }
});

describe("cached tokens", () => {
  // One response: 1000 prompt tokens, 800 of them cached; 300 output tokens. Not every host reports how many of these
  // were thoughts.
  const usage: Record<Host, Json> = {
    chat: {
      prompt_tokens: 1000,
      completion_tokens: 300,
      total_tokens: 1300,
      prompt_tokens_details: { cached_tokens: 800 },
      completion_tokens_details: { reasoning_tokens: 200 },
    },
    messages: { input_tokens: 200, cache_read_input_tokens: 800, cache_creation_input_tokens: 0, output_tokens: 300 },
    genai: {
      promptTokenCount: 1000,
      cachedContentTokenCount: 800,
      candidatesTokenCount: 100,
      thoughtsTokenCount: 200,
      totalTokenCount: 1300,
    },
    converse: { inputTokens: 200, outputTokens: 300, totalTokens: 1300, cacheReadInputTokens: 800 },
    responses: {
      input_tokens: 1000,
      input_tokens_details: { cached_tokens: 800 },
      output_tokens: 300,
      output_tokens_details: { reasoning_tokens: 200 },
      total_tokens: 1300,
    },
  };

  test.each([...HOSTS])(
    "H06: one response of a %s host shows the same counts in four protocols, and costs the same",
    async (host) => {
      play(host, { usage });
      const read = async (client: ScriptedDialect) => {
        const response = await call(client, host, client === "messages" ? { max_tokens: 1000 } : {});
        const body = (await response.json()) as { usage?: Json; usageMetadata?: Record<string, number> };
        const receipt = await gateway.receipt(response);
        return { shown: body.usage ?? {}, meta: body.usageMetadata ?? {}, receipt };
      };
      const [chat, messages, genai, responses] = await Promise.all([
        read("chat"),
        read("messages"),
        read("genai"),
        read("responses"),
      ]);
      expect(chat.shown).toMatchObject({
        prompt_tokens: 1000,
        completion_tokens: 300,
        total_tokens: 1300,
        prompt_tokens_details: { cached_tokens: 800 },
      });
      expect(messages.shown).toMatchObject({ input_tokens: 200, cache_read_input_tokens: 800, output_tokens: 300 });
      expect(genai.meta).toMatchObject({ promptTokenCount: 1000, cachedContentTokenCount: 800, totalTokenCount: 1300 });
      expect((genai.meta["candidatesTokenCount"] ?? 0) + (genai.meta["thoughtsTokenCount"] ?? 0)).toBe(300);
      expect(responses.shown).toMatchObject({
        input_tokens: 1000,
        input_tokens_details: { cached_tokens: 800 },
        output_tokens: 300,
        total_tokens: 1300,
      });
      for (const { receipt } of [chat, messages, genai, responses]) {
        expect(receipt.usage).toMatchObject({ input: 200, cache_read: 800 });
        // Without a price for cached tokens: 1000 × 1 + 300 × 2 dollars a million.
        expect(receipt.cost_nano_usd).toBe(1_600_000);
      }
    },
  );
});

describe("cache marks", () => {
  const mark = { cache_control: { type: "ephemeral", ttl: "1h" } };
  const fromMessages = {
    system: [{ type: "text", text: "A long text.", ...mark }],
    messages: [{ role: "user", content: [{ type: "text", text: "hi", ...mark }] }],
  };
  const fromChat = {
    messages: [
      { role: "system", content: [{ type: "text", text: "A long text.", ...mark }] },
      { role: "user", content: [{ type: "text", text: "hi", ...mark }] },
    ],
  };
  const sent = () => JSON.parse(upstream.seen[0]?.body ?? "{}") as Json;
  const droppedOf = (response: Response) => response.headers.get("x-trivium-dropped") ?? "";

  test("H04: from messages to a host with cache points between blocks, with their age", async () => {
    play("converse");
    const response = await call("messages", "converse", fromMessages);
    const point = { cachePoint: { type: "default", ttl: "1h" } };
    expect(sent()).toMatchObject({
      system: [{ text: "A long text." }, point],
      messages: [{ role: "user", content: [{ text: "hi" }, point] }],
    });
    expect(droppedOf(response)).toBe("");
  });

  test("H04: from chat to messages, on the same blocks, with their age", async () => {
    play("messages");
    const response = await call("chat", "messages", fromChat);
    expect(sent()).toMatchObject(fromMessages);
    expect(droppedOf(response)).toBe("");
  });

  test("H04: from messages to a chat host that accepts them, on the same blocks", async () => {
    play("chat");
    await call("messages", "marks", fromMessages);
    expect(JSON.stringify(sent()["messages"]).match(/"cache_control":\{"type":"ephemeral"/g)).toHaveLength(2);
  });

  test.each([
    ["messages", "genai", fromMessages, ["system[0].cache_control", "messages[0].content[0].cache_control"]],
    ["messages", "responses", fromMessages, ["system[0].cache_control", "messages[0].content[0].cache_control"]],
    ["messages", "chat", fromMessages, ["system[0].cache_control", "messages[0].content[0].cache_control"]],
    ["chat", "genai", fromChat, ["messages[0].content[0].cache_control", "messages[1].content[0].cache_control"]],
  ] as const)(
    "H04: from %s to a %s host without a form for them: not sent, and noted",
    async (client, host, body, paths) => {
      play(host);
      const response = await call(client, host, body);
      expect(upstream.seen[0]?.body).not.toMatch(/cache_?control|cachePoint/i);
      expect(droppedOf(response).split(",")).toEqual(expect.arrayContaining([...paths]));
    },
  );
});

describe("schemas", () => {
  const schema = {
    type: "object",
    $defs: { size: { type: "integer", exclusiveMinimum: 0 } },
    properties: { size: { $ref: "#/$defs/size" }, kind: { const: "box" } },
    required: ["size"],
  };
  const tools = [{ type: "function", function: { name: "f", parameters: schema } }];

  test.each([
    ["messages", (body: Json) => (body["tools"] as Json[])[0]?.["input_schema"]],
    [
      "genai",
      (body: Json) =>
        (body["tools"] as { functionDeclarations: Json[] }[])[0]?.functionDeclarations[0]?.["parametersJsonSchema"],
    ],
    ["responses", (body: Json) => (body["tools"] as Json[])[0]?.["parameters"]],
    [
      "converse",
      (body: Json) =>
        (body["toolConfig"] as { tools: { toolSpec: { inputSchema: Json } }[] }).tools[0]?.toolSpec.inputSchema["json"],
    ],
  ] as const)("H08: references, constants and bounds arrive at a %s host, in the right field", async (host, read) => {
    play(host);
    await call("chat", host, { tools });
    expect(read(JSON.parse(upstream.seen[0]?.body ?? "{}") as Json)).toEqual(schema);
  });
});
