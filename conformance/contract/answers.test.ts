import { describe, expect, test } from "bun:test";
import type { DialectName } from "../../src/canon/dialect-name.ts";
import type { CallOptions } from "../../testing/build-call.ts";
import { plainAnswer, plainStream, plainUsage } from "../../testing/plain-answer.ts";
import { SCRIPTED_DIALECTS } from "../../testing/sampled-dialects.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { callGateway } from "../support/client-calls.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { sendJson, startEvents } from "../support/scripted-upstream.ts";

const { upstream, gateway } = await scriptedHarness();

const call = (client: DialectName, target: DialectName, options: CallOptions = {}) =>
  callGateway(gateway.url, client, gateway.key, { model: `test/${target}`, ...options });

/** The payloads of a stream of events. */
const payloads = (text: string): Record<string, unknown>[] =>
  text
    .split(/\r?\n/)
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice(6)) as Record<string, unknown>);

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

describe("contract 2.7, 2.8: genai responses have a creation time and an id", () => {
  const candidate = (text: string, finishReason?: string) => ({
    candidates: [
      { content: { role: "model", parts: [{ text }] }, ...(finishReason ? { finishReason } : {}), index: 0 },
    ],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1, totalTokenCount: 6 },
  });

  test("not streamed: missing fields are added, the host's own stay", async () => {
    upstream.play((_request, response) => void sendJson(response, candidate("ok", "STOP")));
    const added = (await (await call("genai", "genai")).json()) as Record<string, string>;
    expect(added["createTime"]).toMatch(RFC_3339);
    expect(added["responseId"]).toMatch(/^[\w-]{8,}$/);

    const own = { responseId: "up-1", createTime: "2026-01-02T03:04:05.678Z" };
    upstream.play((_request, response) => void sendJson(response, { ...candidate("ok", "STOP"), ...own }));
    expect(await (await call("genai", "genai")).json()).toMatchObject(own);
  });

  test.each([
    ["LF", "\n\n"],
    ["CRLF", "\r\n\r\n"],
  ])("streamed with %s: every chunk has both, with equal values, and one kind of line ending", async (_, end) => {
    const texts = ["a", "b", '{"createTime": "no", "citationSources": [}', "c"];
    upstream.play((_request, response) => {
      startEvents(response);
      for (const text of texts) response.write(`data: ${JSON.stringify(candidate(text))}${end}`);
      response.end(`data: ${JSON.stringify(candidate("!", "STOP"))}${end}`);
    });
    const raw = await (await call("genai", "genai", { stream: true })).text();
    expect(raw).not.toContain("\r");
    expect(
      raw
        .split("\n\n")
        .slice(0, -1)
        .every((event) => /^data: \{[^\n]*\}$/.test(event)),
    ).toBe(true);
    const chunks = payloads(raw);
    expect(
      chunks.map((chunk) => (chunk as ReturnType<typeof candidate>).candidates[0]?.content.parts[0]?.text),
    ).toEqual([...texts, "!"]);
    expect(new Set(chunks.map((chunk) => chunk["responseId"])).size).toBe(1);
    expect(new Set(chunks.map((chunk) => chunk["createTime"])).size).toBe(1);
    expect(chunks[0]?.["createTime"]).toMatch(RFC_3339);
    expect(chunks[0]?.["responseId"]).toMatch(/^[\w-]{8,}$/);
  });

  test("streamed: the host's id stays on every chunk, and only the time is added", async () => {
    upstream.play((_request, response) => {
      startEvents(response);
      for (const text of ["a", "b", "c"]) {
        response.write(`data: ${JSON.stringify({ ...candidate(text), responseId: "up-7" })}\r\n\r\n`);
      }
      response.end(`data: ${JSON.stringify({ ...candidate("!", "STOP"), responseId: "up-7" })}\r\n\r\n`);
    });
    const chunks = payloads(await (await call("genai", "genai", { stream: true })).text());
    expect(chunks.map((chunk) => chunk["responseId"])).toEqual(Array(4).fill("up-7"));
    expect(new Set(chunks.map((chunk) => chunk["createTime"])).size).toBe(1);
    expect(chunks[2]?.["createTime"]).toMatch(RFC_3339);
  });

  test("streamed as a JSON array too", async () => {
    upstream.play((_request, response) => {
      startEvents(response);
      response.end(wire.genaiChunk("a") + wire.genaiChunk("b", "STOP"));
    });
    const response = await fetch(`${gateway.url}/v1beta/models/test/genai:streamGenerateContent`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({ contents: [{ parts: [{ text: "hi" }] }] }),
    });
    const chunks = (await response.json()) as Record<string, unknown>[];
    expect(chunks).toHaveLength(2);
    for (const chunk of chunks) {
      expect(chunk["createTime"]).toMatch(RFC_3339);
      expect(chunk["responseId"]).toBe(chunks[0]?.["responseId"]);
    }
  });

  test.each(["chat", "messages", "responses"] as const)("translated from %s: both are present", async (target) => {
    upstream.play((_request, response) => {
      startEvents(response);
      response.end(plainStream(target, ["a", "b"], plainUsage(target, 5, 1)));
    });
    const chunks = payloads(await (await call("genai", target, { stream: true })).text());
    expect(chunks.length).toBeGreaterThan(1);
    for (const chunk of chunks) {
      expect(chunk["createTime"]).toMatch(RFC_3339);
      expect(chunk["responseId"]).toBeString();
    }
  });
});

describe("contract 2.7: citationMetadata.citations", () => {
  const sources = [{ startIndex: 0, endIndex: 2, uri: "https://a.example" }];
  const answer = {
    candidates: [
      {
        content: { role: "model", parts: [{ text: "ok" }] },
        citationMetadata: { citationSources: sources },
        finishReason: "STOP",
        index: 0,
      },
    ],
  };
  const cited = (body: unknown) =>
    (body as { candidates: { citationMetadata: object }[] }).candidates[0]?.citationMetadata;

  test("streamed or not, under the contract's name next to the host's", async () => {
    upstream.play((_request, response) => void sendJson(response, answer));
    const both = { citations: sources, citationSources: sources };
    expect(cited(await (await call("genai", "genai")).json())).toEqual(both);
    upstream.play((_request, response) => {
      startEvents(response);
      response.write(wire.genaiChunk("a"));
      response.end(`data: ${JSON.stringify(answer)}\r\n\r\n`);
    });
    const chunks = payloads(await (await call("genai", "genai", { stream: true })).text());
    expect(cited(chunks[1])).toEqual(both);
  });

  test("a host that uses the contract's name keeps its bytes", async () => {
    const named = structuredClone(answer) as Record<string, unknown> & typeof answer;
    Object.assign(named.candidates[0] ?? {}, { citationMetadata: { citations: sources } });
    upstream.play((_request, response) => void sendJson(response, named));
    expect(cited(await (await call("genai", "genai")).json())).toEqual({ citations: sources });
  });
});

describe("contract 2.11: every counter of the messages usage", () => {
  const whole = (usage: object) => ({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [{ type: "text", text: "ok" }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage,
  });
  const none = {
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation: { ephemeral_1h_input_tokens: 0, ephemeral_5m_input_tokens: 0 },
    server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 },
    service_tier: "standard",
  };

  test("native, not streamed: what the host does not count is 0", async () => {
    upstream.play((_request, response) => void sendJson(response, whole({ input_tokens: 3, output_tokens: 1 })));
    const { usage } = (await (await call("messages", "messages")).json()) as { usage: object };
    expect(usage).toEqual({ input_tokens: 3, output_tokens: 1, ...none });
  });

  test("native, not streamed: its counts stay, in order; the sum of cache writes is added", async () => {
    const reported = {
      input_tokens: 3,
      cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
      cache_read_input_tokens: 7,
      output_tokens: 1,
      service_tier: "priority",
      server_tool_use: null,
      inference_geo: "eu",
    };
    upstream.play((_request, response) => void sendJson(response, whole(reported)));
    const { usage } = (await (await call("messages", "messages")).json()) as { usage: object };
    expect(usage).toEqual({
      ...reported,
      server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 },
      cache_creation_input_tokens: 30,
    });
  });

  test("native, not streamed: a sum of cache writes without its split counts as five minutes", async () => {
    upstream.play(
      (_request, response) =>
        void sendJson(response, whole({ input_tokens: 3, cache_creation_input_tokens: 40, output_tokens: 1 })),
    );
    const { usage } = (await (await call("messages", "messages")).json()) as { usage: object };
    expect(usage).toMatchObject({
      cache_creation_input_tokens: 40,
      cache_creation: { ephemeral_5m_input_tokens: 40, ephemeral_1h_input_tokens: 0 },
    });
  });

  test.each([...SCRIPTED_DIALECTS])("streamed from %s: the events together have all of them", async (target) => {
    upstream.play((_request, response) => {
      startEvents(response);
      response.end(plainStream(target, ["o", "k"], plainUsage(target, 1, 1)));
    });
    const events = payloads(await (await call("messages", target, { stream: true })).text());
    const start = events[0] as { message: { usage: object } };
    const end = events.at(-2) as { usage: object; delta: { usage: object } };
    expect(start.message.usage).toMatchObject({ input_tokens: expect.any(Number), output_tokens: 0 });
    // Clients merge the last counters over the first.
    expect({ ...start.message.usage, ...end.usage }).toMatchObject(none);
    expect(end.delta.usage).toEqual(end.usage);
  });
});

describe("choices 5: translated chat usage has both details", () => {
  const expected = {
    prompt_tokens_details: { cached_tokens: expect.any(Number) },
    completion_tokens_details: { reasoning_tokens: expect.any(Number) },
  };

  test.each(["messages", "genai", "responses"] as const)("from %s, streamed or not", async (target) => {
    const usageOfHost = plainUsage(target, 5, 1);
    upstream.play(
      (_request, response) => void sendJson(response, plainAnswer(target, { text: "ok", usage: usageOfHost })),
    );
    const { usage } = (await (await call("chat", target)).json()) as { usage: object };
    expect(usage).toMatchObject({ prompt_tokens: 5, completion_tokens: 1, total_tokens: 6, ...expected });

    upstream.play((_request, response) => {
      startEvents(response);
      response.end(plainStream(target, ["o", "k"], usageOfHost));
    });
    const options = { stream: true, body: { stream_options: { include_usage: true } } };
    const chunks = payloads(await (await call("chat", target, options)).text());
    expect(chunks.at(-1)?.["usage"]).toMatchObject(expected);
  });
});

describe("R2, R31: every counter of the Responses usage, and every echoed setting", () => {
  const counted = {
    input_tokens: 5,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 1,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 6,
  };
  /** What the protocol requires in a response. */
  const shell = {
    id: expect.stringMatching(/^resp_/),
    object: "response",
    created_at: expect.any(Number),
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: expect.any(Object),
    parallel_tool_calls: true,
    tool_choice: "auto",
    tools: [],
  };

  test.each([...SCRIPTED_DIALECTS])("from %s, streamed or not", async (target) => {
    const usage = plainUsage(target, 5, 1);
    const model = `test/${target}`;
    upstream.play((_request, response) => void sendJson(response, plainAnswer(target, { text: "ok", usage })));
    const answer = await (await call("responses", target)).json();
    expect(answer).toMatchObject({ ...shell, model, status: "completed", usage: counted });

    upstream.play((_request, response) => {
      startEvents(response);
      response.end(plainStream(target, ["o", "k"], usage));
    });
    const events = payloads(await (await call("responses", target, { stream: true })).text());
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    const ids = events.flatMap(({ response }) => (response as { id: string } | undefined)?.id ?? []);
    expect([ids.length, new Set(ids).size]).toEqual([3, 1]);
    const started = { ...shell, model, status: "in_progress", output: [], usage: null };
    expect(events.slice(0, 2)).toMatchObject([
      { type: "response.created", response: started },
      { type: "response.in_progress", response: started },
    ]);
    const text = [{ type: "output_text", text: "ok", annotations: [] }];
    expect(events.at(-1)).toMatchObject({
      type: "response.completed",
      response: { ...shell, model, status: "completed", output: [{ type: "message", content: text }], usage: counted },
    });
  });

  test.each([...SCRIPTED_DIALECTS])("from %s: cached and reasoning tokens of a host", async (target) => {
    const usage = {
      chat: {
        prompt_tokens: 50,
        completion_tokens: 30,
        total_tokens: 80,
        prompt_tokens_details: { cached_tokens: 40 },
        completion_tokens_details: { reasoning_tokens: 20 },
      },
      messages: { input_tokens: 10, cache_read_input_tokens: 40, output_tokens: 30 },
      genai: {
        promptTokenCount: 50,
        cachedContentTokenCount: 40,
        candidatesTokenCount: 10,
        thoughtsTokenCount: 20,
        totalTokenCount: 80,
      },
      responses: {
        input_tokens: 50,
        input_tokens_details: { cached_tokens: 40 },
        output_tokens: 30,
        output_tokens_details: { reasoning_tokens: 20 },
        total_tokens: 80,
      },
    }[target];
    upstream.play((_request, response) => void sendJson(response, plainAnswer(target, { text: "ok", usage })));
    expect(await (await call("responses", target)).json()).toMatchObject({
      usage: {
        input_tokens: 50,
        input_tokens_details: { cached_tokens: 40 },
        output_tokens: 30,
        // Messages hosts do not count thoughts separately.
        output_tokens_details: { reasoning_tokens: target === "messages" ? 0 : 20 },
        total_tokens: 80,
      },
    });
  });
});
