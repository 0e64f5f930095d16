import { describe, expect, test } from "bun:test";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { callGateway } from "../support/client-calls.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { sendJson, startEvents } from "../support/scripted-upstream.ts";

/** What hosts need returned, or report in their own fields, and what clients see of it. */
const { upstream, gateway } = await scriptedHarness((url) => {
  const { providers, models, ...config } = scriptedModels(url) as { providers: object; models: object[] };
  const at = (id: string, provider: string, model = "upstream-model") => ({
    id,
    reasoning: true,
    pricings: {},
    offers: [{ provider, model }],
  });
  return {
    config: {
      ...config,
      providers: {
        ...providers,
        "up-proxy": { kind: "openai-compatible", base_url: `${url}/v1`, dialects: ["chat"] },
        "up-groq": { kind: "groq", base_url: `${url}/v1`, api_key: "upstream-secret-groq" },
      },
      models: [
        ...models,
        at("test/proxy", "up-proxy"),
        at("test/groq", "up-groq"),
        at("acme/gem", "up-genai", "gemini-3-flash-preview"),
        at("acme/old-gem", "up-genai", "gemini-2.5-flash"),
      ],
    },
  };
});

const answerOf = (message: object) => ({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 7,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: "stop" }],
  usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 },
});
const eventsOf = (text: string) =>
  [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data = ""]) => JSON.parse(data) as Record<string, unknown>);
const sentBody = () => JSON.parse(upstream.seen.at(-1)?.body ?? "{}");

const SHOWN = { type: "reasoning.text", text: "Hmm.", signature: "s1", format: "x-v1", index: 0 };
const SEALED = { type: "reasoning.encrypted", data: "e1", format: "x-v1", id: "rs_1", index: 1 };

describe("contract 2.12: reasoning.exclude hides what is shown, and nothing else", () => {
  test.each([false, true])("natively: encrypted details stay (stream: %p)", async (stream) => {
    const said = { reasoning: "Hmm.", reasoning_details: [SHOWN, SEALED] };
    upstream.play((_request, response) => {
      if (!stream) return void sendJson(response, answerOf({ content: "Twelve.", ...said }));
      startEvents(response);
      response.end(
        wire.chatChunk({ role: "assistant", reasoning: "Hmm.", reasoning_details: [SHOWN] }) +
          wire.chatChunk({ reasoning_details: [SEALED] }) +
          wire.chatChunk({ content: "Twelve." }) +
          wire.chatChunk({}, "stop") +
          wire.done,
      );
    });
    const body = { reasoning: { exclude: true } };
    const response = await callGateway(gateway.url, "chat", gateway.key, { model: "test/proxy", stream, body });
    const text = await response.text();
    expect(text).not.toMatch(/Hmm|"reasoning"|reasoning_content/);
    const holders = stream
      ? eventsOf(text).map(({ choices }) => (choices as { delta: object }[])[0]?.delta)
      : [(JSON.parse(text) as { choices: { message: object }[] }).choices[0]?.message];
    const details = holders.flatMap((holder) => (holder as { reasoning_details?: object[] })?.reasoning_details ?? []);
    expect(details).toEqual([SEALED]);
  });
});

describe("H01: reasoning_details are returned to the host that made them, and to no other", () => {
  const own = { format: "openai-compatible:x-v1", index: 0 };
  const history = (details: readonly object[]) => [
    { role: "user", content: "hi" },
    { role: "assistant", content: "Twelve.", reasoning_details: details },
    { role: "user", content: "Why?" },
  ];
  const ask = async (model: string, details: readonly object[]) => {
    upstream.play((_request, response) => void sendJson(response, answerOf({ content: "So." })));
    const body = { messages: history(details) };
    const response = await callGateway(gateway.url, "chat", gateway.key, { model, body });
    expect(response.status).toBe(200);
    return { sent: sentBody().messages[1] as Record<string, unknown>, receipt: await gateway.receipt(response) };
  };

  test("a client of another protocol returns them to an openai-compatible host", async () => {
    upstream.play(
      (_request, response) =>
        void sendJson(response, answerOf({ content: "Twelve.", reasoning_details: [SHOWN, SEALED] })),
    );
    const first = await callGateway(gateway.url, "messages", gateway.key, { model: "test/proxy" });
    const { content } = (await first.json()) as { content: object[] };
    const messages = [
      { role: "user", content: "hi" },
      { role: "assistant", content },
      { role: "user", content: "Why?" },
    ];
    upstream.play((_request, response) => void sendJson(response, answerOf({ content: "So." })));
    const second = await callGateway(gateway.url, "messages", gateway.key, { model: "test/proxy", body: { messages } });
    expect(second.status).toBe(200);
    expect(sentBody().messages[1]).toMatchObject({ content: "Twelve.", reasoning_details: [SHOWN, SEALED] });
  });

  test("also next to those of others, which force the canon", async () => {
    const foreign = { type: "reasoning.encrypted", data: "g1", format: "genai", id: "content", index: 1 };
    const { sent, receipt } = await ask("test/proxy", [{ type: "reasoning.encrypted", data: "e1", ...own }, foreign]);
    expect(receipt.lane).toBe("translated");
    expect(sent["reasoning_details"]).toEqual([{ type: "reasoning.encrypted", data: "e1", format: "x-v1", index: 0 }]);
    expect(receipt.fields.map(({ path }) => path)).toEqual(["messages[1].reasoning_details"]);
  });

  test.each(["bedrock", "bedrock:bytes", "messages:bytes", "genai", "deepseek"])(
    "a value of %s is not sent to another chat host",
    async (format) => {
      const { sent, receipt } = await ask("test/proxy", [
        { type: "reasoning.encrypted", data: "secret", format, index: 0 },
      ]);
      expect([receipt.lane, JSON.stringify(sent)]).toEqual(["translated", expect.not.stringContaining("secret")]);
      expect(receipt.fields).toHaveLength(1);
    },
  );

  test("a host's own format names stay native", async () => {
    const { sent, receipt } = await ask("test/proxy", [SEALED]);
    expect([receipt.lane, sent["reasoning_details"]]).toEqual(["native", [SEALED]]);
  });
});

describe("contract 2.13: usage that a host reports in its own field", () => {
  const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };
  const finish = { delta: {}, finish_reason: "stop", index: 0 };
  const variants = {
    x_groq: { choices: [finish], x_groq: { id: "req_1", usage } },
    choice: { choices: [{ ...finish, usage }] },
    "x_groq and the usual one": { choices: [finish], x_groq: { id: "req_1", usage }, usage },
  };

  test.each(Object.entries(variants))(
    "%s: a client that requested it gets it once, in the right place",
    async (_name, last) => {
      upstream.play((_request, response) => {
        startEvents(response);
        const envelope = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 7, model: "m" };
        response.end(
          `${wire.chatChunk({ role: "assistant", content: "ok" })}data: ${JSON.stringify({ ...envelope, ...last })}\n\n${wire.done}`,
        );
      });
      const ask = async (body: Record<string, unknown>) => {
        const response = await callGateway(gateway.url, "chat", gateway.key, {
          model: "test/groq",
          stream: true,
          body,
        });
        const text = await response.text();
        expect(text).toEndWith("data: [DONE]\n\n");
        const shown = eventsOf(text).filter((event) => event["usage"]);
        return { shown, receipt: await gateway.receipt(response) };
      };
      const asked = await ask({ stream_options: { include_usage: true } });
      expect(asked.shown).toMatchObject([{ id: "chatcmpl-1", model: "test/groq", usage }]);
      expect(asked.receipt.usage).toMatchObject({ input: 9, output: 3 });
      const priced = await ask({ usage: { include: true } });
      expect(priced.shown).toMatchObject([{ usage: { ...usage, cost: 0 } }]);
    },
  );

  test("a client that did not request it gets nothing", async () => {
    upstream.play((_request, response) => {
      startEvents(response);
      response.end(
        wire.chatChunk({ role: "assistant", content: "ok" }) +
          wire.chatChunk({}, "stop", { x_groq: { usage } }) +
          wire.done,
      );
    });
    const response = await callGateway(gateway.url, "chat", gateway.key, { model: "test/groq", stream: true });
    expect(eventsOf(await response.text()).filter((event) => event["usage"])).toEqual([]);
  });
});

test.each([
  ["acme/gem", true],
  ["acme/old-gem", false],
])(
  "H01: %s is recognised by its upstream name: a call without a signature gets the bypass: %p",
  async (model, demanded) => {
    upstream.play(
      (_request, response) =>
        void sendJson(response, {
          candidates: [{ content: { role: "model", parts: [{ text: "ok" }] }, finishReason: "STOP" }],
          usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
        }),
    );
    const messages = [
      { role: "user", content: "hi" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "c1", content: "done" },
    ];
    const tools = [{ type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }];
    const response = await callGateway(gateway.url, "chat", gateway.key, { model, body: { messages, tools } });
    expect(response.status).toBe(200);
    const [call] = sentBody().contents[1].parts as { thoughtSignature?: string }[];
    expect(call?.thoughtSignature !== undefined).toBe(demanded);
  },
);

describe("contract 2.12: json_schema.description", () => {
  const ask = async (model: string, schema: object) => {
    upstream.play(
      (_request, response) =>
        void sendJson(
          response,
          model === "test/genai"
            ? {
                candidates: [{ content: { role: "model", parts: [{ text: "{}" }] }, finishReason: "STOP" }],
                usageMetadata: {},
              }
            : {
                id: "msg_1",
                type: "message",
                role: "assistant",
                model: "m",
                content: [{ type: "text", text: "{}" }],
                stop_reason: "end_turn",
                stop_sequence: null,
                usage: { input_tokens: 1, output_tokens: 1 },
              },
        ),
    );
    const response_format = { type: "json_schema", json_schema: { name: "a", description: "What it is for.", schema } };
    const response = await callGateway(gateway.url, "chat", gateway.key, { model, body: { response_format } });
    expect(response.status).toBe(200);
    const { fields } = await gateway.receipt(response);
    return { sent: JSON.stringify(sentBody()), fields: fields.map(({ path, action }) => `${path} ${action}`) };
  };
  const plain = { type: "object", properties: {}, additionalProperties: false };

  test.each(["test/genai", "test/messages"])(
    "%s: carried in the schema, or noted if that has its own",
    async (model) => {
      const carried = await ask(model, plain);
      expect(carried.sent).toContain("What it is for.");
      expect(carried.fields).not.toContain("response_format.json_schema.description dropped");
      const noted = await ask(model, { ...plain, description: "Its own." });
      expect(noted.sent).toContain("Its own.");
      expect(noted.fields).toContain("response_format.json_schema.description dropped");
    },
  );
});
