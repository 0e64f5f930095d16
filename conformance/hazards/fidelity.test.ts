import { describe, expect, test } from "bun:test";
import { wire } from "../../testing/upstream-wire.ts";
import { callGateway } from "../support/client-calls.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { sendJson, startEvents } from "../support/scripted-upstream.ts";

const { upstream, gateway } = await scriptedHarness();

const chatAnswer = (usage: object) => ({
  id: "chatcmpl-9",
  object: "chat.completion",
  created: 1,
  model: "upstream-model-2026",
  choices: [
    { index: 0, message: { role: "assistant", content: "ok", refusal: null }, finish_reason: "stop", logprobs: null },
  ],
  usage,
});

const post = (path: string, headers: Record<string, string>, body: string) =>
  fetch(gateway.url + path, { method: "POST", headers: { "content-type": "application/json", ...headers }, body });

describe("H05: the native lane forwards the client's bytes", () => {
  const odd =
    '"tools":[ {"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"10":{"type":"string"},"2":{"type":"number"},"b":{},"a":{}}}}} ],"temperature":1.0,"metadata":{"z":"1","a":"\\u00e9é"}';

  test("chat: only the model name changes, integer-like keys and spacing stay", async () => {
    upstream.play(
      (_request, response) =>
        void sendJson(response, chatAnswer({ prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 })),
    );
    const body = `{ "messages" :[{"role":"user","content":"hi"}],  "model":"test/chat",${odd} }`;
    const response = await post("/api/v1/chat/completions", { authorization: `Bearer ${gateway.key}` }, body);
    expect(response.status).toBe(200);
    expect(upstream.seen[0]?.body).toBe(body.replace('"test/chat"', '"upstream-model"'));
  });

  test("messages: only the model name changes", async () => {
    upstream.play(
      (_request, response) =>
        void sendJson(response, {
          id: "msg_1",
          type: "message",
          role: "assistant",
          model: "m",
          content: [],
          stop_reason: "end_turn",
          stop_sequence: null,
          usage: { input_tokens: 1, output_tokens: 1 },
        }),
    );
    const body =
      '{"max_tokens":16,"messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]}],"model" : "test/messages","tools":[{"name":"f","input_schema":{"type":"object","properties":{"2":{},"1":{}}}}],"unknown_field":[1.50]}';
    const response = await post(
      "/api/msg/v1/messages",
      { "x-api-key": gateway.key, "partner-version": "2023-06-01" },
      body,
    );
    expect(response.status).toBe(200);
    expect(upstream.seen[0]?.body).toBe(body.replace('"test/messages"', '"upstream-model"'));
  });

  test("genai: the body is forwarded unchanged", async () => {
    upstream.play(
      (_request, response) =>
        void sendJson(response, {
          candidates: [{ content: { role: "model", parts: [{ text: "ok" }] }, finishReason: "STOP" }],
          usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
        }),
    );
    const body =
      '{"generationConfig" : {"temperature":1.0},"contents":[{"parts":[{"text":"hi"}]}],"someNewField":{"2":1,"1":2}}';
    const response = await post(
      "/api/genai/v1/publishers/test/models/genai:generateContent",
      { authorization: `Bearer ${gateway.key}` },
      body,
    );
    expect(response.status).toBe(200);
    expect(upstream.seen[0]?.body).toBe(body);
    expect(upstream.seen[0]?.path).toBe("/v1beta/models/upstream-model:generateContent");
  });

  test("S04: a duplicate or escaped model key cannot smuggle another model past the check", async () => {
    upstream.play(
      (_request, response) =>
        void sendJson(response, chatAnswer({ prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 })),
    );
    const body =
      '{"model":"gpt-expensive","\\u006dodel":"gpt-expensive","messages":[{"role":"user","content":"hi"}],"model":"test/chat"}';
    const { status } = await post("/api/v1/chat/completions", { authorization: `Bearer ${gateway.key}` }, body);
    expect([status, upstream.seen.length]).toEqual([400, 0]);
  });
});

describe("H06: cached tokens are counted once", () => {
  test("chat: cached and reasoning tokens are part of the sums, and disjoint in the receipt", async () => {
    const usage = {
      prompt_tokens: 1000,
      completion_tokens: 300,
      total_tokens: 1300,
      prompt_tokens_details: { cached_tokens: 800 },
      completion_tokens_details: { reasoning_tokens: 200 },
    };
    upstream.play((_request, response) => void sendJson(response, chatAnswer(usage)));
    const response = await callGateway(gateway.url, "chat", gateway.key);
    expect(((await response.json()) as { usage: object }).usage).toEqual(usage);
    const receipt = await gateway.receipt(response);
    expect(receipt.usage).toMatchObject({ input: 200, cache_read: 800, output: 100, reasoning: 200 });
    // No cache price is configured, so cached tokens cost the same as others: 1000 × 1 + 300 × 2 dollars per million.
    expect(receipt.cost_nano_usd).toBe(1_600_000);
  });

  test("messages: input_tokens excludes cached ones; both ages of cache writes are separate", async () => {
    const usage = {
      input_tokens: 10,
      cache_read_input_tokens: 70,
      cache_creation_input_tokens: 30,
      cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
      output_tokens: 5,
    };
    upstream.play(
      (_request, response) =>
        void sendJson(response, {
          id: "msg_1",
          type: "message",
          role: "assistant",
          model: "m",
          content: [],
          stop_reason: "end_turn",
          stop_sequence: null,
          usage,
        }),
    );
    const receipt = await gateway.receipt(await callGateway(gateway.url, "messages", gateway.key));
    expect(receipt.usage).toMatchObject({
      input: 10,
      cache_read: 70,
      cache_write_5m: 10,
      cache_write_1h: 20,
      output: 5,
    });
  });

  test("genai: promptTokenCount includes cached ones, candidatesTokenCount excludes thoughts", async () => {
    upstream.play(
      (_request, response) =>
        void sendJson(response, {
          candidates: [{ content: { parts: [{ text: "x" }] }, finishReason: "STOP" }],
          usageMetadata: {
            promptTokenCount: 100,
            cachedContentTokenCount: 60,
            candidatesTokenCount: 7,
            thoughtsTokenCount: 30,
            totalTokenCount: 137,
          },
        }),
    );
    const receipt = await gateway.receipt(await callGateway(gateway.url, "genai", gateway.key));
    expect(receipt.usage).toMatchObject({ input: 40, cache_read: 60, output: 7, reasoning: 30 });
  });

  test("chat streams: usage requested by the ledger is hidden from a client that did not request it", async () => {
    const play = () =>
      upstream.play((_request, response) => {
        startEvents(response);
        response.end(
          wire.chatChunk({ role: "assistant", content: "hi" }) +
            wire.chatChunk({}, "stop") +
            wire.chatUsage({ prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 }) +
            wire.done,
        );
      });
    play();
    const plain = await callGateway(gateway.url, "chat", gateway.key, { stream: true });
    expect(await plain.text()).not.toContain("prompt_tokens");
    expect(JSON.parse(upstream.seen[0]?.body ?? "{}")).toMatchObject({ stream_options: { include_usage: true } });
    expect((await gateway.receipt(plain)).usage).toMatchObject({ input: 3, output: 1 });
    play();
    const asked = await callGateway(gateway.url, "chat", gateway.key, {
      stream: true,
      body: { usage: { include: true } },
    });
    expect(await asked.text()).toMatch(/"usage":\{"cost":0\.000005,"prompt_tokens":3/);
    expect(upstream.seen[0]?.body).not.toContain('"usage":{"include"');
  });
});

describe("H03: streamed tool calls have a consistent index", () => {
  const call = (index: number | undefined, id: string | undefined, name: string | undefined, args: string) =>
    wire.chatChunk({
      tool_calls: [
        {
          index,
          ...(id === undefined ? {} : { id, type: "function" }),
          function: { name, arguments: args },
        },
      ],
    });

  async function toolCallsOf(stream: string) {
    upstream.play((_request, response) => {
      startEvents(response);
      response.end(stream + wire.chatChunk({}, "tool_calls") + wire.done);
    });
    const text = await (await callGateway(gateway.url, "chat", gateway.key, { stream: true })).text();
    const calls = new Map<number, { id: string; name: string; args: string; ids: number }>();
    for (const [, data] of text.matchAll(/^data: (\{.*)$/gm)) {
      const chunk = JSON.parse(data ?? "{}") as {
        choices: {
          delta: { tool_calls?: { index: number; id?: string; function: { name?: string; arguments?: string } }[] };
        }[];
      };
      for (const one of chunk.choices[0]?.delta.tool_calls ?? []) {
        const known = calls.get(one.index) ?? { id: "", name: "", args: "", ids: 0 };
        if (one.id) known.ids++;
        calls.set(one.index, {
          id: known.id + (one.id ?? ""),
          name: known.name + (one.function.name ?? ""),
          args: known.args + (one.function.arguments ?? ""),
          ids: known.ids,
        });
      }
    }
    return [...calls.entries()].sort(([a], [b]) => a - b).map(([index, value]) => ({ index, ...value }));
  }

  test("well-formed parallel calls pass unchanged", async () => {
    expect(
      await toolCallsOf(
        call(0, "a", "f", "") +
          call(1, "b", "f", "") +
          call(0, undefined, undefined, '{"x":1}') +
          call(1, undefined, undefined, '{"x":2}'),
      ),
    ).toEqual([
      { index: 0, id: "a", name: "f", args: '{"x":1}', ids: 1 },
      { index: 1, id: "b", name: "f", args: '{"x":2}', ids: 1 },
    ]);
  });

  test("all with index 0, or without one: two calls of one function stay two", async () => {
    const wanted = [
      { index: 0, id: "a", name: "f", args: '{"x":1}', ids: 1 },
      { index: 1, id: "b", name: "f", args: '{"x":2}', ids: 1 },
    ];
    expect(await toolCallsOf(call(0, "a", "f", '{"x":1}') + call(0, "b", "f", '{"x":2}'))).toEqual(wanted);
    expect(
      await toolCallsOf(
        call(undefined, "a", "f", '{"x"') +
          call(undefined, undefined, undefined, ":1}") +
          call(undefined, "b", "f", '{"x":2}'),
      ),
    ).toEqual(wanted);
    expect(
      await toolCallsOf(call(0, "a", "f", '{"x"') + call(0, "a", "f", ":1}") + call(0, "b", "f", '{"x":2}')),
    ).toEqual(wanted);
  });

  test("without ids each call gets its own", async () => {
    const calls = await toolCallsOf(call(0, undefined, "f", '{"x":1}') + call(0, undefined, "f", '{"x":2}'));
    expect(calls.map(({ name, args }) => ({ name, args }))).toEqual([
      { name: "f", args: '{"x":1}' },
      { name: "f", args: '{"x":2}' },
    ]);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
    for (const { id } of calls) expect(id).toStartWith("call_");
  });
});

describe("H11: input tokens are reported at the start, and can be counted in advance", () => {
  test("a host without usage in message_start: an estimate at the start, the exact count at the end", async () => {
    upstream.play((_request, response) => {
      startEvents(response);
      response.end(
        wire.messageStart({}) + wire.textBlock("hi") + wire.messageEnd({ input_tokens: 12, output_tokens: 3 }),
      );
    });
    const response = await callGateway(gateway.url, "messages", gateway.key, { stream: true });
    const text = await response.text();
    const start = JSON.parse(/data: (\{"type":"message_start".*)/.exec(text)?.[1] ?? "{}") as {
      message: { usage: { input_tokens: number } };
    };
    expect(start.message.usage.input_tokens).toBeGreaterThan(0);
    expect(text).toMatch(/"delta":\{"usage":\{"input_tokens":12,"output_tokens":3,.*"stop_reason":"end_turn"/);
    expect((await gateway.receipt(response)).usage).toMatchObject({ input: 12, output: 3 });
  });

  test("count_tokens calls the upstream that can count", async () => {
    upstream.play(
      (request, response) => void sendJson(response, request.path.endsWith("count_tokens") ? { input_tokens: 42 } : {}),
    );
    const response = await post(
      "/api/msg/v1/messages/count_tokens",
      { "x-api-key": gateway.key, "anthropic-version": "2023-06-01" },
      '{"model":"test/messages","messages":[{"role":"user","content":"hi"}]}',
    );
    expect(await response.json()).toEqual({ input_tokens: 42 });
    expect(upstream.seen[0]?.path).toBe("/v1/messages/count_tokens");
    expect((await gateway.receipt(response)).cost_nano_usd).toBe(0);
  });

  test("so does countTokens of the genai protocol", async () => {
    upstream.play((_request, response) => void sendJson(response, { totalTokens: 31 }));
    const response = await post(
      "/api/genai/v1/publishers/test/models/genai:countTokens",
      { authorization: `Bearer ${gateway.key}` },
      '{"contents":[{"parts":[{"text":"hi"}]}]}',
    );
    expect(await response.json()).toEqual({ totalTokens: 31 });
  });
});

describe("choices 3: only what needs it is patched", () => {
  test("chat: both reasoning and reasoning_content, whichever the host sends; hidden on request", async () => {
    const play = (field: string) =>
      upstream.play((_request, response) => {
        startEvents(response);
        response.end(
          wire.chatChunk({ role: "assistant", [field]: "thin" }) +
            wire.chatChunk({ [field]: "king" }) +
            wire.chatChunk({ content: "ok" }) +
            wire.chatChunk({}, "stop") +
            wire.done,
        );
      });
    for (const field of ["reasoning", "reasoning_content"]) {
      play(field);
      const text = await (await callGateway(gateway.url, "chat", gateway.key, { stream: true })).text();
      for (const both of ["reasoning", "reasoning_content"]) {
        expect([...text.matchAll(new RegExp(`"${both}":"(\\w+)"`, "g"))].map((match) => match[1]).join("")).toBe(
          "thinking",
        );
      }
      play(field);
      const hidden = await (
        await callGateway(gateway.url, "chat", gateway.key, { stream: true, body: { reasoning: { exclude: true } } })
      ).text();
      expect(hidden).not.toContain("thin");
      expect(hidden).toContain('"content":"ok"');
    }
  });

  test("genai: finishReason in the contract's spelling, in the vendor's for its SDKs and at the drop-in door", async () => {
    const answer = {
      candidates: [{ content: { parts: [{ text: "x" }] }, finishReason: "MAX_TOKENS" }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    };
    upstream.play((_request, response) => void sendJson(response, answer));
    const contract = await (await callGateway(gateway.url, "genai", gateway.key)).text();
    expect(contract).toContain('"finishReason":"FINISH_REASON_MAX_TOKENS"');
    const vendor = await (
      await callGateway(gateway.url, "genai", gateway.key, { headers: { "x-goog-api-client": "google-genai-sdk/2" } })
    ).text();
    expect(vendor).toContain('"finishReason":"MAX_TOKENS"');
    const dropin = await (await callGateway(gateway.url, "genai", gateway.key, { door: "dropin" })).text();
    expect(dropin).toContain('"finishReason":"MAX_TOKENS"');
  });

  test("genai without alt=sse: the vendor's JSON array at the compatible base URL, events at the strict one (C3)", async () => {
    const ask = (path: string) => {
      upstream.play((_request, response) => {
        startEvents(response);
        response.end(wire.genaiChunk("a") + wire.genaiChunk("b", "STOP"));
      });
      return fetch(`${gateway.url}${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
        body: '{"contents":[{"parts":[{"text":"hi"}]}]}',
      });
    };
    for (const query of ["", "?alt=sse", "?alt=json"]) {
      const strict = await ask(`/api/genai/v1/publishers/test/models/genai:streamGenerateContent${query}`);
      expect(strict.headers.get("content-type")).toStartWith("text/event-stream");
      expect((await strict.text()).match(/^data: /gm)).toHaveLength(2);
    }
    upstream.seen.length = 0;
    const response = await ask("/v1beta/models/test/genai:streamGenerateContent");
    expect(response.headers.get("content-type")).toStartWith("application/json");
    expect(upstream.seen[0]?.path).toEndWith(":streamGenerateContent?alt=sse");
    const chunks = (await response.json()) as { candidates: { content: { parts: { text: string }[] } }[] }[];
    expect(chunks.map((chunk) => chunk.candidates[0]?.content.parts[0]?.text)).toEqual(["a", "b"]);
  });

  test("max_tokens above the model's limit is clamped and noted; the drop-in door renames max_tokens", async () => {
    upstream.play(
      (_request, response) =>
        void sendJson(response, chatAnswer({ prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 })),
    );
    const response = await callGateway(gateway.url, "chat", gateway.key, {
      door: "dropin",
      body: { max_tokens: 999_999, seed: 7 },
    });
    expect(JSON.parse(upstream.seen[0]?.body ?? "{}")).toMatchObject({ max_completion_tokens: 8192, seed: 7 });
    expect(upstream.seen[0]?.body).not.toContain('"max_tokens"');
    expect(response.headers.get("x-trivium-approximated")).toBe("max_tokens");
    expect((await gateway.receipt(response)).fields).toEqual([
      { path: "max_tokens", action: "approximated", reason: "the model's limit is 8192" },
    ]);
  });
});

describe("H14: usage that the provider does not report is estimated, and marked as such", () => {
  const stream = [
    {
      type: "message_start",
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "m",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 31, output_tokens: 1 },
      },
    },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    {
      type: "content_block_delta",
      index: 0,
      delta: { type: "text_delta", text: "A long answer of many words. ".repeat(40) },
    },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null } },
    { type: "message_stop" },
  ];
  const text = stream.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");

  test.each(["messages", "chat"] as const)(
    "a messages host that reports only the beginning of its count, to a %s client",
    async (client) => {
      upstream.play((_request, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.end(text);
      });
      const response = await callGateway(gateway.url, client, gateway.key, { model: "test/messages", stream: true });
      await response.text();
      const { usage, usage_source } = await gateway.receipt(response);
      expect(usage_source).toBe("estimated");
      expect(usage["input"]).toBe(31);
      expect(usage["output"]).toBeGreaterThan(100);
    },
  );
});
