import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import AnthropicEarlier from "anthropic-sdk-0";
import { type Simulator, startSimulator } from "../../../simulator.ts";

const WEATHER: Anthropic.Tool = {
  name: "get_weather",
  input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};
const TIME: Anthropic.Tool = { name: "get_time", input_schema: { type: "object", properties: {} } };
const GIF = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";

let simulator: Simulator;
let client: Anthropic;
let nowMs = 1_800_000_000_000;

beforeAll(async () => {
  simulator = await startSimulator({ tokenDelayMs: 0, nowMs: () => nowMs });
  client = new Anthropic({ apiKey: "any-key", baseURL: `${simulator.url}/anthropic`, maxRetries: 0 });
});
afterAll(() => simulator.stop());

const user = (content: string) => ({ role: "user" as const, content });

function textOf(message: Anthropic.Message): string {
  return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

async function send(
  body: object,
  headers: Record<string, string> = {},
): Promise<{ status: number; type: string; message: string; text: string }> {
  const response = await fetch(`${simulator.url}/anthropic/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": "any-key", "anthropic-version": "2023-06-01", ...headers },
    body: JSON.stringify({ model: "standard", max_tokens: 4_000, messages: [user("hi")], ...body }),
  });
  const text = await response.text();
  const error = response.ok ? undefined : (JSON.parse(text) as { error: { type: string; message: string } }).error;
  return { status: response.status, type: error?.type ?? "", message: error?.message ?? "", text };
}

describe("contract 2.10 and 2.11: messages through the vendor's SDK", () => {
  test("whole and streamed answers agree, on both generations of the SDK", async () => {
    const request = { model: "standard", max_tokens: 500, system: "Be brief", messages: [user("Bonjour à tous")] };
    const whole = await client.messages.create(request);
    const streamed = await client.messages.stream(request).finalMessage();
    expect(textOf(whole)).toContain("Bonjour à tous");
    expect(textOf(streamed)).toBe(textOf(whole));
    expect(streamed.usage.output_tokens).toBe(whole.usage.output_tokens);
    expect(whole.stop_reason).toBe("end_turn");
    const earlier = new AnthropicEarlier({ apiKey: "any-key", baseURL: `${simulator.url}/anthropic`, maxRetries: 0 });
    const again = await earlier.messages.stream(request).finalMessage();
    expect(again.content.map((block) => (block.type === "text" ? block.text : ""))).toEqual([textOf(whole)]);
  });

  test("contract 6.1: events come in their order, each with its name, and a ping after the first block has started", async () => {
    const { text } = await send({ stream: true });
    const names = [...text.matchAll(/^event: (\w+)$/gm)].map((match) => match[1]);
    const types = [...text.matchAll(/^data: \{"type": ?"(\w+)"/gm)].map((match) => match[1]);
    expect(types).toEqual(names);
    expect(names.slice(0, 4)).toEqual(["message_start", "content_block_start", "ping", "content_block_delta"]);
    expect(names.slice(-3)).toEqual(["content_block_stop", "message_delta", "message_stop"]);
  });

  test("tools round trip: parallel calls, an empty first fragment, results in one message", async () => {
    const messages: Anthropic.MessageParam[] = [user("get_weather and get_time in Oslo")];
    const tools = [WEATHER, TIME];
    const fragments: string[] = [];
    const stream = client.messages.stream({ model: "standard", max_tokens: 500, messages, tools });
    for await (const event of stream) {
      if (event.type === "content_block_delta" && event.delta.type === "input_json_delta")
        fragments.push(event.delta.partial_json);
    }
    const answer = await stream.finalMessage();
    const calls = answer.content.filter((block) => block.type === "tool_use");
    expect(answer.stop_reason).toBe("tool_use");
    expect(calls.map((call) => call.name)).toEqual(["get_weather", "get_time"]);
    expect(calls[0]?.input).toEqual({ city: "Oslo" });
    expect(calls[1]?.input).toEqual({});
    expect(fragments[0]).toBe("");
    // A call without arguments sends one empty fragment and nothing else.
    expect(fragments.filter((fragment) => fragment === "")).toHaveLength(2);
    expect(fragments.at(-1)).toBe("");
    messages.push({ role: "assistant", content: answer.content });
    messages.push({
      role: "user",
      content: calls.map((call) => ({ type: "tool_result", tool_use_id: call.id, content: `result of ${call.name}` })),
    });
    const after = await client.messages.create({ model: "standard", max_tokens: 500, messages, tools });
    expect(textOf(after)).toContain("result of get_weather");
    expect(textOf(after)).toContain("result of get_time");
  });

  test("disable_parallel_tool_use and forced choices are obeyed", async () => {
    const ask = async (tool_choice: Anthropic.ToolChoice) => {
      const request = { model: "standard", max_tokens: 500, tools: [WEATHER, TIME], tool_choice };
      const answer = await client.messages.create({ ...request, messages: [user("get_weather, get_time")] });
      return answer.content.filter((block) => block.type === "tool_use").map((block) => block.name);
    };
    expect(await ask({ type: "auto", disable_parallel_tool_use: true })).toEqual(["get_weather"]);
    expect(await ask({ type: "tool", name: "get_time" })).toEqual(["get_time"]);
    expect(await ask({ type: "none" })).toEqual([]);
  });

  test("structured output, stop sequence and max_tokens", async () => {
    const schema = {
      type: "object",
      properties: { n: { type: "integer" } },
      required: ["n"],
      additionalProperties: false,
    };
    const shaped = await client.messages.create({
      model: "standard",
      max_tokens: 500,
      messages: [user("count")],
      output_config: { format: { type: "json_schema", schema } },
    });
    expect(Number.isInteger((JSON.parse(textOf(shaped)) as { n: number }).n)).toBe(true);
    const stopped = await client.messages.create({
      model: "standard",
      max_tokens: 500,
      messages: [user("stop")],
      stop_sequences: ["model", "speaking"],
    });
    expect(stopped.stop_reason).toBe("stop_sequence");
    expect(stopped.stop_sequence).toBe("speaking");
    expect(textOf(stopped)).toBe("This is Trivium's simulator ");
    const short = await client.messages.create({ model: "standard", max_tokens: 3, messages: [user("cut")] });
    expect(short.stop_reason).toBe("max_tokens");
    expect(short.usage.output_tokens).toBe(3);
  });

  test("a last assistant turn is continued where it breaks off", async () => {
    const request = { model: "standard", max_tokens: 500, messages: [user("finish this")] };
    const whole = textOf(await client.messages.create(request));
    const begun = { role: "assistant" as const, content: whole.slice(0, 40).trimEnd() };
    const rest = await client.messages.create({ ...request, messages: [...request.messages, begun] });
    expect(begun.content + textOf(rest)).toBe(whole);
  });

  test("images and documents are looked at; a wrong label is refused in the host's words", async () => {
    const answer = await client.messages.create({
      model: "standard",
      max_tokens: 500,
      messages: [
        {
          role: "user",
          content: [
            { type: "image", source: { type: "base64", media_type: "image/gif", data: GIF } },
            { type: "document", source: { type: "text", media_type: "text/plain", data: "five chars" } },
          ],
        },
      ],
    });
    expect(textOf(answer)).toContain("image/gif of 1×1 pixels");
    expect(textOf(answer)).toContain("text/plain of 10 characters");
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: GIF } };
    const wrong = await send({ messages: [{ role: "user", content: [image] }] });
    expect(wrong.message).toContain("image/png media type, but the image appears to be a image/gif image");
    const pdf = { type: "document", source: { type: "base64", media_type: "application/pdf", data: GIF } };
    expect((await send({ messages: [{ role: "user", content: [pdf] }] })).message).toContain("PDF");
  });

  test("count_tokens counts as the answer does", async () => {
    const request = { model: "standard", system: "s", messages: [user("count these few words")], tools: [WEATHER] };
    const counted = await client.messages.countTokens(request);
    const answer = await client.messages.create({ ...request, max_tokens: 10 });
    expect(counted.input_tokens).toBe(answer.usage.input_tokens);
  });

  test("models are listed over several pages", async () => {
    const names: string[] = [];
    for await (const model of client.models.list({ limit: 7 })) names.push(model.id);
    expect(names).toContain("standard");
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThan(30);
    expect((await client.models.retrieve("slow")).id).toBe("slow");
  });
});

describe("H02: thinking", () => {
  const thinking = { type: "enabled" as const, budget_tokens: 1_024 };
  const request = { model: "strict-thinker", max_tokens: 4_000, thinking, tools: [TIME] };

  async function firstTurn(): Promise<{ messages: Anthropic.MessageParam[]; answer: Anthropic.Message }> {
    const messages: Anthropic.MessageParam[] = [user("get_time please")];
    const answer = await client.messages.stream({ ...request, messages }).finalMessage();
    const call = answer.content.find((block) => block.type === "tool_use");
    messages.push({ role: "assistant", content: answer.content });
    messages.push({ role: "user", content: [{ type: "tool_result", tool_use_id: call?.id ?? "", content: "noon" }] });
    return { messages, answer };
  }

  test("the signature comes right before its block stops, and the round trip works", async () => {
    const { text } = await send({ model: "thinker", thinking, stream: true });
    expect(text).toMatch(/signature_delta[^\n]*\n\nevent: content_block_stop/);
    const { messages, answer } = await firstTurn();
    expect(answer.content.map((block) => block.type)).toEqual(["thinking", "tool_use"]);
    const after = await client.messages.create({ ...request, messages });
    expect(after.content.map((block) => block.type)).toEqual(["thinking", "text"]);
    expect(textOf(after)).toContain("noon");
    expect(after.usage.output_tokens).toBeGreaterThan(10);
  });

  test("an altered signature, altered thoughts and missing thoughts are each refused", async () => {
    const { messages, answer } = await firstTurn();
    const replay = async (change: (block: Anthropic.ContentBlock) => Anthropic.ContentBlockParam[]) => {
      const changed = [messages[0], { role: "assistant", content: answer.content.flatMap(change) }, messages[2]];
      return send({ ...request, messages: changed });
    };
    const kept = await replay((block) => [block]);
    expect(kept.status).toBe(200);
    const signature = await replay((block) =>
      block.type === "thinking" ? [{ ...block, signature: `A${block.signature.slice(1)}B` }] : [block],
    );
    expect(signature).toMatchObject({
      status: 400,
      message: "messages.1.content.0: Invalid `signature` in `thinking` block",
    });
    const thoughts = await replay((block) => (block.type === "thinking" ? [{ ...block, thinking: "else" }] : [block]));
    expect(thoughts.message).toContain("Invalid `signature`");
    const without = await replay((block) => (block.type === "thinking" ? [] : [block]));
    expect(without.message).toContain("Expected `thinking` or `redacted_thinking`, but found `tool_use`");
  });

  test("redacted thinking comes whole, goes back, and is refused when altered", async () => {
    const messages: Anthropic.MessageParam[] = [user("redact your thoughts")];
    const answer = await client.messages.create({ model: "thinker", max_tokens: 4_000, thinking, messages });
    expect(answer.content.map((block) => block.type)).toEqual(["thinking", "redacted_thinking", "text"]);
    const next = [...messages, { role: "assistant", content: answer.content }, user("go on")];
    expect((await send({ model: "thinker", thinking, messages: next })).status).toBe(200);
    const altered = JSON.parse(JSON.stringify(next).replace(/"data":"..../, '"data":"AAAA')) as object;
    expect((await send({ model: "thinker", thinking, messages: altered })).message).toContain("redacted_thinking");
  });

  test("omitted thinking is an empty block with a signature that is good", async () => {
    const messages: Anthropic.MessageParam[] = [user("adapt")];
    const adaptive = { type: "adaptive" as const, display: "omitted" as const };
    const answer = await client.messages.create({ model: "thinker", max_tokens: 4_000, thinking: adaptive, messages });
    const [block] = answer.content;
    expect(block?.type === "thinking" && block.thinking).toBe("");
    const next = [...messages, { role: "assistant", content: answer.content }, user("go on")];
    expect((await send({ model: "thinker", thinking: adaptive, messages: next })).status).toBe(200);
  });
});

describe("H04 and H06: caching where it was marked", () => {
  test("written at first, read after, with the lifetimes apart; the answer stays the same", async () => {
    const request = {
      model: "standard",
      max_tokens: 200,
      system: [
        {
          type: "text" as const,
          text: "A long preamble. ".repeat(20),
          cache_control: { type: "ephemeral" as const, ttl: "1h" as const },
        },
      ],
      messages: [
        {
          role: "user" as const,
          content: [{ type: "text" as const, text: "mark me", cache_control: { type: "ephemeral" as const } }],
        },
      ],
    };
    const counted = (
      await client.messages.countTokens({ model: "standard", system: request.system, messages: request.messages })
    ).input_tokens;
    const first = await client.messages.create(request);
    expect(first.usage.cache_read_input_tokens).toBe(0);
    expect(first.usage.cache_creation?.ephemeral_1h_input_tokens).toBeGreaterThan(50);
    expect(first.usage.cache_creation?.ephemeral_5m_input_tokens).toBeGreaterThan(0);
    expect(first.usage.input_tokens + (first.usage.cache_creation_input_tokens ?? 0)).toBe(counted);
    const second = await client.messages.create(request);
    expect(second.usage.cache_creation_input_tokens).toBe(0);
    expect(second.usage.cache_read_input_tokens).toBe(first.usage.cache_creation_input_tokens ?? -1);
    expect(second.content).toEqual(first.content);
    nowMs += 10 * 60_000;
    const later = await client.messages.create(request);
    expect(later.usage.cache_read_input_tokens).toBe(first.usage.cache_creation?.ephemeral_1h_input_tokens ?? -1);
  });

  test("nothing is cached without a mark, and five marks are too many", async () => {
    const request = { model: "standard", max_tokens: 20, messages: [user("unmarked")] };
    await client.messages.create(request);
    expect((await client.messages.create(request)).usage.cache_read_input_tokens).toBe(0);
    const block = { type: "text", text: "x", cache_control: { type: "ephemeral" } };
    const error = await send({ messages: [{ role: "user", content: [block, block, block, block, block] }] });
    expect(error.message).toContain("maximum of 4 blocks with cache_control");
  });
});

test("contract 2.10: a simulated search is a server tool with results and citations, and costs input at the end", async () => {
  const tools: Anthropic.ToolUnion[] = [{ type: "web_search_20250305", name: "web_search" }];
  const messages: Anthropic.MessageParam[] = [user("search for three roads")];
  const stream = client.messages.stream({ model: "standard", max_tokens: 500, messages, tools });
  let opening = 0;
  for await (const event of stream) if (event.type === "message_start") opening = event.message.usage.input_tokens;
  const answer = await stream.finalMessage();
  expect(answer.content.slice(0, 3).map((block) => block.type)).toEqual([
    "server_tool_use",
    "web_search_tool_result",
    "text",
  ]);
  const cited = answer.content.filter((block) => block.type === "text" && (block.citations?.length ?? 0) > 0);
  expect(cited).toHaveLength(2);
  expect(answer.usage.input_tokens).toBeGreaterThan(opening);
  expect(answer.usage.server_tool_use?.web_search_requests).toBe(1);
  const next = [...messages, { role: "assistant", content: answer.content }, user("thanks")];
  expect((await send({ tools, messages: next })).status).toBe(200);
});

describe("providers 1.3: what the host refuses", () => {
  test("keys and versions", async () => {
    const wrong = new Anthropic({ apiKey: "wrong", baseURL: `${simulator.url}/anthropic`, maxRetries: 0 });
    const error = await wrong.messages
      .create({ model: "standard", max_tokens: 1, messages: [user("hi")] })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Anthropic.AuthenticationError);
    expect(error).toMatchObject({ type: "authentication_error" });
    expect((error as { requestID?: string }).requestID).toMatch(/^req_/);
    expect((await send({}, { "anthropic-version": "1999-01-01" })).message).toContain("anthropic-version");
  });

  test("missing and malformed fields, each named", async () => {
    const said = async (body: object) => (await send(body)).message;
    expect(await said({ max_tokens: undefined })).toBe("max_tokens: Field required");
    expect(await said({ temperature: 1.5 })).toBe("temperature: Input should be less than or equal to 1");
    expect(await said({ provider: {} })).toBe("provider: Extra inputs are not permitted");
    expect(await said({ context_management: {} })).toBe("context_management: Extra inputs are not permitted");
    expect(await said({ messages: [{ role: "assistant", content: "x" }] })).toContain("first message must use");
    expect(await said({ messages: [{ role: "system", content: "x" }] })).toContain("messages.0.role");
    expect(await said({ messages: [user("")] })).toBe("messages: text content blocks must be non-empty");
    expect(await said({ max_tokens: 100_000 })).toContain("maximum allowed number of output tokens");
    expect(await said({ thinking: { type: "enabled", budget_tokens: 10 } })).toContain("greater than or equal to 1024");
    expect(await said({ thinking: { type: "enabled", budget_tokens: 5_000 } })).toContain(
      "`max_tokens` must be greater",
    );
    expect(await said({ tools: [{ name: "f" }] })).toBe("tools.0.custom.input_schema: Field required");
    expect(await said({ model: "reasoner-strict", temperature: 0.5 })).toContain("`temperature` is not supported");
    expect(await said({ model: "claude" })).toBe("model: claude");
  });

  test("tool_use and tool_result must pair up", async () => {
    const call = { type: "tool_use", id: "toolu_1", name: "f", input: {} };
    const result = { type: "tool_result", tool_use_id: "toolu_1", content: "x" };
    const said = async (messages: object[]) => (await send({ messages })).message;
    expect(await said([{ role: "user", content: [result] }])).toContain("unexpected `tool_use_id`");
    expect(await said([user("a"), { role: "assistant", content: [call] }, user("b")])).toContain(
      "without `tool_result`",
    );
    expect(await said([user("a"), { role: "assistant", content: [call] }])).toContain("without `tool_result`");
    const bad = { ...call, id: "call:1" };
    expect(await said([user("a"), { role: "assistant", content: [bad] }])).toContain("should match pattern");
  });
});
