import { afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { DialectName } from "../../src/canon/dialect-name.ts";
import type { Usage } from "../../src/canon/usage.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import type { ReceiptData } from "../../testing/receipt-data.ts";
import { countsOf, reportedUsage } from "../../testing/reported-usage.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import type { ReadAnswer } from "../../testing/sent-call.ts";
import { wire } from "../../testing/upstream-wire.ts";

/** Streams that report their usage more than once: which report counts, in the ledger and for the client (decision 0085). */
const CLIENTS: readonly DialectName[] = ["chat", "messages", "genai", "responses"];

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.start({ config: modelsOfEveryDialect(UPSTREAM_URL) });
});
afterEach(() => expect(harness.leftovers()).toMatchObject({ runningCalls: 0, openUpstreams: 0 }));

interface Told {
  answer: ReadAnswer;
  receipt: ReceiptData;
  usage: Usage | undefined;
}

async function ask(client: DialectName, host: DialectName, ...parts: string[]): Promise<Told> {
  harness.upstream.play(harness.upstream.stream(...parts));
  const shown = client === "chat" ? { stream_options: { include_usage: true } } : {};
  const answer = await harness.call(client, { model: `test/${host}`, stream: true, body: shown });
  return { answer, receipt: await harness.receipt(answer), usage: reportedUsage(client, answer, true) };
}

function expectBoth({ receipt, usage }: Told, prompt: number, completion: number, cached = 0): void {
  const at = (name: string) => receipt.usage[name] ?? 0;
  expect(receipt.usage_source).toBe("measured");
  expect({ prompt: at("input") + at("cache_read"), completion: at("output") + at("reasoning") }).toEqual({
    prompt,
    completion,
  });
  expect(at("cache_read")).toBe(cached);
  expect(countsOf(usage)).toMatchObject({ prompt, completion, cached });
}

const chatUsage = (prompt: number, completion: number, more: object = {}) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  ...more,
});
const genaiUsage = (prompt: number, completion: number, thoughts?: number) => ({
  promptTokenCount: prompt,
  ...(completion > 0 ? { candidatesTokenCount: completion } : {}),
  thoughtsTokenCount: thoughts,
  totalTokenCount: prompt + completion + (thoughts ?? 0),
});
const said = wire.chatChunk({ content: "hello you" });
const stopped = wire.chatChunk({}, "stop");
const messageDelta = (usage: object, stop_reason: string | null = null) =>
  wire.event({ type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage });
const blockEnd = wire.event({ type: "content_block_stop", index: 0 });

describe("H27, H60: the later figures count, smaller or not", () => {
  describe.each(CLIENTS)("a %s client", (client) => {
    test("of a chat host, in separate chunks", async () => {
      const usages = wire.chatUsage(chatUsage(4_500, 20)) + wire.chatUsage(chatUsage(10, 5));
      expectBoth(await ask(client, "chat", said, stopped, usages, wire.done), 10, 5);
    });

    test("of a chat host, in a chunk and at the end", async () => {
      const first = wire.chatChunk({ content: "hello" }, null, { usage: chatUsage(4_500, 5) });
      const last = wire.chatChunk({}, "stop", { usage: chatUsage(10, 20) });
      expectBoth(await ask(client, "chat", first, last, wire.done), 10, 20);
    });

    test("of a chat host that reports in a place where clients do not look", async () => {
      const elsewhere = (usage: object) => wire.chatChunk({}, null, { x_groq: { id: "r", usage } });
      const both = elsewhere(chatUsage(4_500, 20)) + elsewhere(chatUsage(10, 5));
      expectBoth(await ask(client, "chat", said, both, stopped, wire.done), 10, 5);
    });

    test("of a chat host whose second report is without cached tokens", async () => {
      const details = { prompt_tokens_details: { cached_tokens: 4_000 } };
      const usages = wire.chatUsage(chatUsage(4_500, 20, details)) + wire.chatUsage(chatUsage(500, 20));
      expectBoth(await ask(client, "chat", said, stopped, usages, wire.done), 500, 20);
    });

    test("of a genai host, at its end", async () => {
      const first = wire.genaiChunk("hello", undefined, genaiUsage(4_500, 12));
      expectBoth(await ask(client, "genai", first, wire.genaiChunk(" you", "STOP", genaiUsage(10, 5))), 10, 5);
    });

    test("of a genai host, among ordinary chunks", async () => {
      const chunks = [10, 4_500, 4_500, 4_500, 10, 10].map((prompt, index) =>
        wire.genaiChunk("hello ", undefined, genaiUsage(prompt, 4 * (index + 1))),
      );
      const end = wire.genaiChunk("you", "STOP", genaiUsage(10, 30));
      expectBoth(await ask(client, "genai", ...chunks, end), 10, 30);
      expectBoth(await ask(client, "genai", chunks.join("") + end), 10, 30);
    });

    test("of a messages host, from its beginning to its end", async () => {
      const start = wire.messageStart({ input_tokens: 4_500, output_tokens: 1 });
      const end = wire.messageEnd({ input_tokens: 10, output_tokens: 20 });
      expectBoth(await ask(client, "messages", start, wire.textBlock("hello you"), end), 10, 20);
    });

    test("of a messages host, from one delta to the next", async () => {
      const start = wire.messageStart({ input_tokens: 10, output_tokens: 1 });
      const deltas =
        blockEnd +
        messageDelta({ input_tokens: 4_500, output_tokens: 50 }) +
        messageDelta({ input_tokens: 4_400, output_tokens: 20 }, "end_turn") +
        wire.event({ type: "message_stop" });
      expectBoth(await ask(client, "messages", start, wire.textBlock("hello you"), deltas), 4_400, 20);
    });
  });
});

describe("H33, H60: a streamed compaction is billed once", () => {
  // As the vendor streams it: the start counts what the compaction read, the end what the answer did.
  test.each(CLIENTS)("%s", async (client) => {
    const passes = [
      { type: "compaction", input_tokens: 60_385, output_tokens: 390 },
      { type: "message", input_tokens: 612, output_tokens: 20 },
    ];
    const start = wire.messageStart({ input_tokens: 60_385, output_tokens: 1 });
    const end = wire.messageEnd({ input_tokens: 612, output_tokens: 20, iterations: passes });
    const told = await ask(client, "messages", start, wire.textBlock("hello you"), end);
    expect(told.receipt.cost_nano_usd).toBe((60_385 + 612) * 1_000 + (390 + 20) * 2_000);
    expect(countsOf(told.usage)).toMatchObject({ prompt: 612, completion: 20 });
    // An end without counters of its own: the passes that answered tell them.
    const bare = wire.messageEnd({ output_tokens: 20, iterations: passes });
    const again = await ask(client, "messages", start, wire.textBlock("hello you"), bare);
    expect(again.receipt.cost_nano_usd).toBe(told.receipt.cost_nano_usd);
  });
});

describe("decision 0085: a later count that is smaller for a reason holds", () => {
  test.each(CLIENTS)("an estimate at the beginning of a messages stream, corrected at its end: %s", async (client) => {
    const start = wire.messageStart({ input_tokens: 4_700, output_tokens: 1 });
    const end = wire.messageEnd({ input_tokens: 4_500, output_tokens: 20 });
    expectBoth(await ask(client, "messages", start, wire.textBlock("hello you"), end), 4_500, 20);
  });

  test.each(CLIENTS)("a prompt whose cached part is known only at the end: %s", async (client) => {
    const start = wire.messageStart({ input_tokens: 4_500, output_tokens: 1 });
    const end = wire.messageEnd({ input_tokens: 100, cache_read_input_tokens: 4_400, output_tokens: 20 });
    expectBoth(await ask(client, "messages", start, wire.textBlock("hello you"), end), 4_500, 20, 4_400);
  });

  // As recorded: the tokens of a round before a hosted search are part of the prompt of the round after it.
  test.each(CLIENTS)("a response that shrinks while its prompt grows by as much: %s", async (client) => {
    const reports = [genaiUsage(9, 15, 78), genaiUsage(9, 0), genaiUsage(9, 7, 35), genaiUsage(9, 21, 35)];
    const chunks = reports.map((usage, index) => wire.genaiChunk(`part ${index} `, undefined, usage));
    const end = wire.genaiChunk("", "STOP", genaiUsage(87, 0, 78));
    expectBoth(await ask(client, "genai", ...chunks, end), 87, 78);
  });
});

describe("H27, decision 0085: counted uses of hosted tools are kept", () => {
  const uses = (web_search_requests: number, web_fetch_requests: number) => ({
    server_tool_use: { web_search_requests, web_fetch_requests },
  });

  test.each(CLIENTS)("if a later messages event has zeros for them: %s", async (client) => {
    const start = wire.messageStart({ input_tokens: 10, output_tokens: 1, ...uses(1, 0) });
    const deltas =
      blockEnd +
      messageDelta({ output_tokens: 10, ...uses(3, 2) }) +
      messageDelta({ output_tokens: 20, ...uses(0, 0) }, "end_turn") +
      wire.event({ type: "message_stop" });
    const { receipt, answer } = await ask(client, "messages", start, wire.textBlock("hello you"), deltas);
    expect(receipt.usage).toMatchObject({ searches: 3, tools: { web_fetch: 2 } });
    if (client === "messages") expect(answer.text.match(/"web_search_requests":\d+/g)?.at(-1)).toContain("3");
  });

  test.each(CLIENTS)("if a later chat chunk omits them; if it has fewer, those count: %s", async (client) => {
    for (const [later, counted] of [
      [{}, 3],
      [uses(0, 0), 3],
      [uses(1, 0), 1],
    ] as const) {
      const usages = wire.chatUsage(chatUsage(10, 20, uses(3, 0))) + wire.chatUsage(chatUsage(10, 21, later));
      const { receipt, answer } = await ask(client, "chat", said, stopped, usages, wire.done);
      expect(receipt.usage).toMatchObject({ input: 10, output: 21, searches: counted });
      if (client === "chat") expect(answer.text.match(/"web_search_requests":\d+/g)?.at(-1)).toContain(String(counted));
    }
  });

  test("a search that has begun and failed is not counted", async () => {
    const call = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} };
    const failed = {
      type: "web_search_tool_result",
      tool_use_id: "srvtoolu_1",
      content: { type: "web_search_tool_result_error", error_code: "unavailable" },
    };
    const block = (index: number, content_block: object) =>
      wire.event({ type: "content_block_start", index, content_block }) +
      wire.event({ type: "content_block_stop", index });
    const text = wire.textBlock("hello you").replaceAll('"index":0', '"index":2');
    const end = wire.messageEnd({ output_tokens: 20, ...uses(0, 0) }).replaceAll('"index":0', '"index":2');
    for (const client of CLIENTS) {
      const { receipt } = await ask(
        client,
        "messages",
        wire.messageStart(),
        block(0, call),
        block(1, failed),
        text,
        end,
      );
      expect(receipt.usage["searches"] ?? 0).toBe(0);
    }
  });
});
