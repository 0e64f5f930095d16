import { describe, expect, test } from "bun:test";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { callGateway } from "../support/client-calls.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { sendJson, startEvents } from "../support/scripted-upstream.ts";

/** What coding agents send, and how they interpret responses (sdks 2.2). */
const { upstream, gateway } = await scriptedHarness((url) => {
  const { providers, models, ...config } = scriptedModels(url) as { providers: object; models: object[] };
  const at = (id: string, provider: string) => ({ id, offers: [{ provider, model: "upstream-model" }] });
  return {
    config: {
      ...config,
      providers: {
        ...providers,
        "up-other": { kind: "openai-compatible", base_url: `${url}/v1`, dialects: ["messages"] },
      },
      models: [
        ...models,
        at("anthropic/claude-opus-4-8", "up-messages"),
        at("anthropic/claude-opus-5", "up-other"),
        at("anthropic/claude-sonnet-4-5", "up-messages"),
        at("google/gemini-3-flash-preview", "up-genai"),
      ],
    },
  };
});

const ANSWER = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m",
  content: [{ type: "text", text: "ok" }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
};

const HISTORY = [
  { role: "user", content: [{ type: "text", text: "hello" }] },
  { role: "system", content: [{ type: "text", text: "Skills: none.", cache_control: { type: "ephemeral" } }] },
];

async function ask(model: string, messages: readonly object[]) {
  upstream.play((_request, response) => void sendJson(response, ANSWER));
  const response = await callGateway(gateway.url, "messages", gateway.key, {
    door: "dropin",
    model,
    body: { messages },
  });
  expect(response.status).toBe(200);
  const sent = JSON.parse(upstream.seen[0]?.body ?? "{}") as { messages: object[]; system?: unknown };
  const { lane, fields } = await gateway.receipt(response);
  return { sent, lane, fields: fields.map(({ path, action }) => `${path} ${action}`) };
}

describe("choices 3: system messages among the others", () => {
  test.each([HISTORY, [...HISTORY, { role: "assistant", content: "Yes." }, { role: "user", content: "Go on." }]])(
    "are forwarded unchanged to a host and a model that accept them",
    async (...messages) => {
      const { sent, lane, fields } = await ask("anthropic/claude-opus-4-8", messages);
      expect([sent.messages, lane, fields]).toEqual([messages, "native", []]);
    },
  );

  test("several in a row, and those at the beginning, are moved to where they are allowed, and stay system messages", async () => {
    const [hello = {}, skills = {}] = HISTORY;
    const { sent, lane, fields } = await ask("anthropic/claude-opus-4-8", [
      { role: "system", content: "Be brief." },
      hello,
      skills,
      { role: "system", content: "And polite." },
    ]);
    expect(sent).toMatchObject({
      system: [{ type: "text", text: "Be brief." }],
      messages: [
        { role: "user" },
        {
          role: "system",
          content: [{ text: "Skills: none.", cache_control: { type: "ephemeral" } }, { text: "And polite." }],
        },
      ],
    });
    expect([sent.messages.length, lane, fields]).toEqual([2, "translated", []]);
  });

  test.each(["anthropic/claude-sonnet-4-5", "anthropic/claude-opus-5"])(
    "%s at a host or of a kind without support: sent as the user's, in tags, and noted in the receipt",
    async (model) => {
      const { sent, lane, fields } = await ask(model, HISTORY);
      expect(sent.messages).toEqual([
        {
          role: "user",
          content: [
            { type: "text", text: "hello" },
            { type: "text", text: "<system>\nSkills: none.\n</system>", cache_control: { type: "ephemeral" } },
          ],
        },
      ]);
      expect([lane, fields]).toEqual(["translated", ["messages[1] approximated"]]);
    },
  );
});

interface Counters {
  input_tokens: number;
  cache_read_input_tokens?: number;
  output_tokens: number;
}

test("H06, H11: a fully cached prompt is counted once in the client's own sum, and billed as cached", async () => {
  upstream.play((_request, response) => {
    startEvents(response);
    const details = { prompt_tokens_details: { cached_tokens: 31_744 } };
    response.end(
      wire.chatChunk({ role: "assistant", content: "ok" }) +
        wire.chatChunk({}, "stop") +
        wire.chatUsage({ prompt_tokens: 31_744, completion_tokens: 5, total_tokens: 31_749, ...details }) +
        wire.done,
    );
  });
  const response = await callGateway(gateway.url, "messages", gateway.key, { model: "test/chat", stream: true });
  const events = [...(await response.text()).matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => JSON.parse(data));
  const start = events.find(({ type }) => type === "message_start").message.usage as Counters;
  const end = events.find(({ type }) => type === "message_delta").usage as Counters;
  expect(start.input_tokens).toBeGreaterThan(0);
  // Agents prefer a counter at the end over that at the beginning, unless it is 0.
  const input = end.input_tokens || start.input_tokens;
  const read = end.cache_read_input_tokens || start.cache_read_input_tokens || 0;
  expect(input + read).toBe(31_744);
  expect((await gateway.receipt(response)).usage).toMatchObject({ input: 0, cache_read: 31_744, output: 5 });
});

test.each([false, true])(
  "H01: the text of a response is its last block, signed or not (stream: %p)",
  async (stream) => {
    const usageMetadata = { promptTokenCount: 5, candidatesTokenCount: 1, totalTokenCount: 6 };
    const parts = [{ text: "Twelve." }, { text: "", thoughtSignature: btoa("a signature") }];
    const content = { role: "model", parts };
    const answer = { candidates: [{ content, finishReason: "STOP", index: 0 }], usageMetadata };
    upstream.play((_request, response) => {
      if (!stream) return void sendJson(response, answer);
      startEvents(response);
      response.end(`data: ${JSON.stringify(answer)}\n\n`);
    });
    const edits = [{ type: "clear_thinking_20251015", keep: "all" }];
    const body = {
      thinking: { type: "enabled", budget_tokens: 1024 },
      max_tokens: 4096,
      context_management: { edits },
    };
    const model = "google/gemini-3-flash-preview";
    const response = await callGateway(gateway.url, "messages", gateway.key, { model, stream, body });
    const text = await response.text();
    const types = stream
      ? [...text.matchAll(/"content_block":\{"type":"(\w+)"/g)].map(([, type]) => type)
      : (JSON.parse(text) as { content: { type: string }[] }).content.map(({ type }) => type);
    expect(types).toEqual(["text"]);
    const { fields } = await gateway.receipt(response);
    expect(fields.map(({ path, action }) => `${path} ${action}`)).toContain("answer.content dropped");
  },
);

test("contract 2.6: whitespace between parts of a model's turn reaches a host that rejects it on its own", async () => {
  upstream.play((_request, response) => void sendJson(response, ANSWER));
  const part = (text: string) => ({ role: "model", parts: [{ text }] });
  const user = (text: string) => ({ role: "user", parts: [{ text }] });
  const contents = [user("Write."), part("for x in y:"), part("\n    "), part("print(x)"), user("Thanks.")];
  const response = await callGateway(gateway.url, "genai", gateway.key, { model: "test/messages", body: { contents } });
  expect(response.status).toBe(200);
  const sent = JSON.parse(upstream.seen[0]?.body ?? "{}") as { messages: { content: { text: string }[] }[] };
  expect(sent.messages[1]?.content.map(({ text }) => text).join("")).toBe("for x in y:\n    print(x)");
});

test("R28: a prompt that is too long is reported inside a requested stream, where Codex acts on it, else by a status", async () => {
  const error = {
    type: "invalid_request_error",
    code: "context_length_exceeded",
    message: "It is too long.",
    param: null,
  };
  upstream.play((_request, response) => void sendJson(response, { error }, 400));
  const body = { model: "test/chat", input: "hello" };
  const ask = (stream: boolean) =>
    fetch(`${gateway.url}/v1/responses`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({ ...body, stream }),
    });
  const streamed = await ask(true);
  const events = (await streamed.text()).match(/^data: .*$/gm)?.map((line) => JSON.parse(line.slice(6)) as object);
  expect([streamed.status, streamed.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  expect(events).toMatchObject([
    { type: "response.created", sequence_number: 0 },
    { type: "response.in_progress", sequence_number: 1 },
    { type: "error", sequence_number: 2, error: { code: "context_length_exceeded" } },
    { type: "response.failed", response: { status: "failed", error: { code: "context_length_exceeded" } } },
  ]);
  expect(await gateway.receipt(streamed)).toMatchObject({ offers: [{ reason: "invalid_request" }], cost_usd: 0 });
  const whole = await ask(false);
  expect([whole.status, await whole.json()]).toMatchObject([400, { error: { code: "context_length_exceeded" } }]);
});
