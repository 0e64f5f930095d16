import { afterEach, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { JsonObject } from "../../src/base/json.ts";
import type { Usage } from "../../src/canon/usage.ts";
import type { CallOptions } from "../../testing/build-call.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { plainAnswer, plainStream } from "../../testing/plain-answer.ts";
import type { ReceiptData } from "../../testing/receipt-data.ts";
import { countsOf, reportedUsage } from "../../testing/reported-usage.ts";
import type { ScriptedDialect } from "../../testing/sampled-dialects.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import type { ReadAnswer } from "../../testing/sent-call.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { ResponsesScript, responsesAnswer } from "../../testing/wires/responses-wire.ts";

const CLIENTS: readonly ScriptedDialect[] = ["chat", "messages", "genai", "responses"];
const WAYS = CLIENTS.flatMap((client) => [false, true].map((stream) => ({ client, stream })));

let harness: Harness;
const logged: string[] = [];
beforeAll(async () => {
  const config = modelsOfEveryDialect(UPSTREAM_URL) as { providers: Record<string, object>; models: ConfiguredModel[] };
  const price = (value: number) => [{ value, unit: "perMTokens", currency: "USD" }];
  const pricings = {
    prompt: price(1),
    input_cache_read: price(0.1),
    input_cache_write: price(3),
    completion: price(2),
  };
  const advisor = { prompt: price(100), completion: price(200) };
  const models = config.models.map((model) => ({ ...model, pricings }));
  const messages = models.find(({ id }) => id === "test/messages");
  harness = await Harness.start({
    config: {
      ...config,
      models: [
        ...models,
        {
          ...messages,
          id: "test/advisor",
          pricings: advisor,
          offers: [{ provider: "up-messages", model: "advisor-1" }],
        },
        { ...models[0], id: "test/plain", reasoning: false, max_output_tokens: undefined },
      ],
    },
    onLog: (line) => logged.push(line),
  });
});

interface ConfiguredModel {
  id: string;
}

const NOTHING_LEFT = { runningCalls: 0, orphanedTexts: 0, orphanedImages: 0, heldBytes: 0, openUpstreams: 0 };
afterEach(() => expect(harness.leftovers()).toEqual(NOTHING_LEFT));

/** A call with an output limit, whose response reports its usage to every client. */
function limited(client: ScriptedDialect, limit: number): Record<string, unknown> {
  return {
    chat: { max_completion_tokens: limit },
    messages: { max_tokens: limit },
    genai: { generationConfig: { maxOutputTokens: limit } },
    responses: { max_output_tokens: limit },
  }[client];
}

interface Told {
  answer: ReadAnswer;
  receipt: ReceiptData;
  /** As the client's protocol reports it. */
  usage: Usage | undefined;
}

async function ask(client: ScriptedDialect, host: ScriptedDialect, options: CallOptions = {}): Promise<Told> {
  const { stream = false, body = {} } = options;
  const shown = client === "chat" && stream ? { stream_options: { include_usage: true } } : {};
  const answer = await harness.call(client, {
    model: `test/${host}`,
    ...options,
    body: { ...limited(client, 8000), ...shown, ...body },
  });
  return { answer, receipt: await harness.receipt(answer), usage: reportedUsage(client, answer, stream) };
}

const play = (host: ScriptedDialect, usage: object, stream: boolean, text = "hello you"): void => {
  const half = Math.ceil(text.length / 2);
  harness.upstream.play(
    stream
      ? harness.upstream.stream(plainStream(host, [text.slice(0, half), text.slice(half)], usage))
      : harness.upstream.json(plainAnswer(host, { text, usage })),
  );
};

const ledgerOf = ({ usage }: ReceiptData): Usage => {
  const at = (name: string) => usage[name] ?? 0;
  return {
    input: at("input"),
    audioInput: at("audio_input"),
    cacheRead: at("cache_read"),
    cacheWrite5m: at("cache_write_5m"),
    cacheWrite1h: at("cache_write_1h"),
    output: at("output"),
    audioOutput: at("audio_output"),
    reasoning: at("reasoning"),
  };
};

describe("H38: more cached tokens than the prompt has are read and billed the same way in every protocol", () => {
  const details = (cached_tokens: number, cache_write_tokens?: number) => ({
    cached_tokens,
    cache_write_tokens,
  });
  const inChat = (prompt: number, completion: number, parts: object) => ({
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: parts,
  });
  const inResponses = (prompt: number, completion: number, parts: object) => ({
    input_tokens: prompt,
    input_tokens_details: parts,
    output_tokens: completion,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: prompt + completion,
  });
  const CASES = [
    {
      name: "7, cached 163",
      prompt: 7,
      completion: 1,
      details: details(163),
      billed: { input: 0, cache_read: 163, cache_write_5m: null, output: 1 },
      cost: 163 * 100 + 2_000,
    },
    {
      name: "M18: 2168, read 2161, written 2161",
      prompt: 2168,
      completion: 100,
      details: details(2161, 2161),
      billed: { input: 0, cache_read: 7, cache_write_5m: 2161, output: 100 },
      cost: 7 * 100 + 2161 * 3_000 + 100 * 2_000,
    },
  ];
  const HOSTS = [
    ["chat", inChat],
    ["responses", inResponses],
  ] as const;

  for (const [host, report] of HOSTS) {
    for (const { name, prompt, completion, details: parts, billed, cost } of CASES) {
      test.each(WAYS)(`${host} ${name}: $client, stream $stream`, async ({ client, stream }) => {
        play(host, report(prompt, completion, parts), stream);
        const { answer, receipt, usage } = await ask(client, host, { stream });
        expect(receipt).toMatchObject({ usage: billed, usage_source: "measured", cost_nano_usd: cost, reported: null });
        expect(countsOf(usage)).toMatchObject({
          prompt: billed.cache_read + (billed.cache_write_5m ?? 0),
          completion: billed.output,
        });
        // As a client reads it that adds up the details. A messages stream tells one token of a cached prompt as not cached.
        const cached = /"(?:cached_tokens|cache_read_input_tokens|cachedContentTokenCount)": ?([1-9]\d*)/g;
        const told = new Set([...answer.text.matchAll(cached)].map(([, count]) => Number(count)));
        expect([...told]).toEqual([billed.cache_read - (client === "messages" && stream ? 1 : 0)]);
      });
    }
  }
});

describe("decision 0085: a client sees the same usage as the ledger", () => {
  const count = (max: number) => fc.nat({ max });
  const maybe = (max: number) => fc.option(count(max), { nil: undefined });
  const reports = {
    chat: fc
      .record({
        prompt: count(90_000),
        cached: maybe(90_000),
        written: maybe(9_000),
        output: count(3_000),
        thought: maybe(3_000),
        spare: maybe(500),
      })
      .map(({ prompt, cached, written, output, thought, spare }) => ({
        prompt_tokens: prompt + 1,
        completion_tokens: output + 1,
        ...(spare === undefined ? {} : { total_tokens: prompt + output + 2 + spare }),
        prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
        completion_tokens_details: { reasoning_tokens: thought },
      })),
    responses: fc
      .record({
        prompt: count(90_000),
        cached: count(90_000),
        output: count(3_000),
        thought: count(3_000),
        spare: count(500),
      })
      .map(({ prompt, cached, output, thought, spare }) => ({
        input_tokens: prompt + 1,
        input_tokens_details: { cached_tokens: cached },
        output_tokens: output + 1,
        output_tokens_details: { reasoning_tokens: thought },
        total_tokens: prompt + output + 2 + spare,
      })),
    messages: fc
      .record({
        prompt: count(60_000),
        cached: count(60_000),
        minutes: count(9_000),
        hour: count(9_000),
        output: count(7_000),
        thought: maybe(9_000),
      })
      .map(({ prompt, cached, minutes, hour, output, thought }) => ({
        input_tokens: prompt + 1,
        cache_read_input_tokens: cached,
        cache_creation_input_tokens: minutes + hour,
        cache_creation: { ephemeral_5m_input_tokens: minutes, ephemeral_1h_input_tokens: hour },
        output_tokens: output + 1,
        ...(thought === undefined ? {} : { output_tokens_details: { thinking_tokens: thought } }),
      })),
    genai: fc
      .record({
        prompt: count(90_000),
        cached: maybe(90_000),
        tools: maybe(500),
        output: maybe(3_000),
        thought: maybe(3_000),
        spare: count(500),
      })
      .map(({ prompt, cached, tools, output, thought, spare }) => ({
        promptTokenCount: prompt + 1,
        cachedContentTokenCount: cached,
        toolUsePromptTokenCount: tools,
        // Without an output count only the total shows it, which cached tokens may use up.
        candidatesTokenCount: output === undefined && cached === undefined ? undefined : (output ?? 0) + 1,
        thoughtsTokenCount: thought,
        totalTokenCount: prompt + 2 + (tools ?? 0) + (output ?? 0) + (thought ?? 0) + spare,
      })),
  } satisfies Record<ScriptedDialect, fc.Arbitrary<object>>;

  test.each(CLIENTS)("whatever a %s host reports", async (host) => {
    await fc.assert(
      fc.asyncProperty(reports[host], async (reported: object) => {
        let bill: { usage: ReceiptData["usage"]; cost: number } | undefined;
        for (const { client, stream } of WAYS) {
          play(host, reported, stream);
          const { receipt, usage } = await ask(client, host, { stream });
          expect(receipt.usage_source).toBe("measured");
          bill ??= { usage: receipt.usage, cost: receipt.cost_nano_usd };
          expect({ usage: receipt.usage, cost: receipt.cost_nano_usd }).toEqual(bill);
          const [told, billed] = [countsOf(usage), countsOf(ledgerOf(receipt))] as { cached: number }[];
          // A stream whose whole prompt was cached tells one token of it as not cached (docs/reference/native-lane.md).
          const tolerance = client === "messages" && host !== "messages" && stream ? 1 : 0;
          expect((billed?.cached ?? 0) - (told?.cached ?? 0)).toBeLessThanOrEqual(tolerance);
          expect({ ...told, cached: 0 }).toEqual({ ...billed, cached: 0 });
        }
      }),
      { numRuns: 20 },
    );
  });
});

/** The vendor's type requires the usage, and clients read `usage.input_tokens` without a check. */
describe("decision 0085: a messages client sees the estimate that is billed if its host reports no usage", () => {
  const reply = plainAnswer("messages", { text: "It is sunny in Lisbon today.", usage: {} });
  const { usage: _absent, ...bare } = reply as JsonObject;

  test.each([
    ["nothing", bare, "estimated"],
    ["an empty usage", reply, "estimated"],
    ["a usage of null", { ...reply, usage: null }, "estimated"],
  ] as const)("%s", async (_name, answer, source) => {
    harness.upstream.play(harness.upstream.json(answer));
    const { usage, receipt } = await ask("messages", "messages");
    expect(receipt.usage_source).toBe(source);
    expect(usage?.input).toBeGreaterThan(0);
    expect(usage?.output).toBeGreaterThan(0);
    expect(countsOf(usage)).toEqual(countsOf(ledgerOf(receipt)));
  });

  test("what a host does report is kept", async () => {
    harness.upstream.play(harness.upstream.json({ ...reply, usage: { input_tokens: 7 } }));
    const { usage } = await ask("messages", "messages");
    expect([usage?.input, (usage?.output ?? 0) > 0]).toEqual([7, true]);
  });

  test("a stream reports the same prompt", async () => {
    harness.upstream.play(harness.upstream.json(bare));
    const whole = await ask("messages", "messages");
    const stream = plainStream("messages", ["It is sunny ", "in Lisbon today."], {});
    harness.upstream.play(
      harness.upstream.stream(stream.replace('"usage":{"input_tokens":10,"output_tokens":1}', '"usage":{}')),
    );
    const streamed = await ask("messages", "messages", { stream: true });
    expect(streamed.usage?.input).toBe(whole.usage?.input as number);
  });
});

describe("H33: passes that a host runs itself are billed, and its own figures are shown unchanged", () => {
  const pass = (type: string, input_tokens: number, output_tokens: number, model?: string) => ({
    type,
    input_tokens,
    output_tokens,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
    cache_creation: null,
    model,
  });
  const report = (...iterations: object[]) => ({ input_tokens: 10, output_tokens: 5, iterations });

  test.each(WAYS)("a compaction: $client, stream $stream", async ({ client, stream }) => {
    play("messages", report(pass("compaction", 180_000, 3_500), pass("message", 10, 5)), stream);
    const { receipt, usage } = await ask(client, "messages", { stream });
    expect(receipt).toMatchObject({
      usage: { input: 180_010, output: 3_505 },
      usage_source: "measured",
      cost_nano_usd: 180_010 * 1_000 + 3_505 * 2_000,
    });
    expect(countsOf(usage)).toMatchObject({ prompt: 10, completion: 5 });
  });

  test.each(WAYS)("an advisor, at the price of its model: $client, stream $stream", async ({ client, stream }) => {
    play("messages", report(pass("message", 10, 5), pass("advisor_message", 2_518, 22, "advisor-1")), stream);
    const { receipt } = await ask(client, "messages", { stream });
    expect(receipt).toMatchObject({
      // The tokens of another model are in the cost, not in the usage of this one.
      usage: { input: 10, output: 5 },
      usage_source: "measured",
      cost_nano_usd: 10 * 1_000 + 5 * 2_000 + 2_518 * 100_000 + 22 * 200_000,
    });
  });

  test("an advisor that the catalogue does not know has the price of the requested model", async () => {
    play("messages", report(pass("message", 10, 5), pass("advisor_message", 2_518, 22, "nobody-knows")), false);
    const { receipt } = await ask("messages", "messages");
    expect(receipt).toMatchObject({ cost_nano_usd: 2_528 * 1_000 + 27 * 2_000 });
  });

  test("a fallback at the price of its model, and nothing for the model that declined", async () => {
    play(
      "messages",
      report(pass("message", 10, 0, "upstream-model"), pass("fallback_message", 9, 5, "advisor-1")),
      false,
    );
    const { receipt } = await ask("messages", "messages");
    expect(receipt).toMatchObject({ usage: { input: 9, output: 5 }, cost_nano_usd: 9 * 100_000 + 5 * 200_000 });
  });

  test("a compaction is bounded by the model's own limits, not by the request's", async () => {
    play("messages", report(pass("compaction", 180_000, 8_192), pass("message", 10, 5)), false);
    const honest = await ask("messages", "messages", { body: { max_tokens: 50 } });
    expect(honest.receipt).toMatchObject({ usage: { output: 8_197 }, usage_source: "measured" });
    play("messages", report(pass("compaction", 180_000, 1e9), pass("message", 10, 5)), false);
    const absurd = await ask("messages", "messages", { body: { max_tokens: 50 } });
    expect(absurd.receipt).toMatchObject({ usage: { output: 8_197 }, usage_source: "estimated" });
  });
});

describe("decision 0085: no report bills more than can have happened", () => {
  const LARGE: Record<ScriptedDialect, (prompt: number, completion: number) => object> = {
    chat: (prompt, completion) => ({ prompt_tokens: prompt, completion_tokens: completion }),
    messages: (prompt, completion) => ({ input_tokens: prompt, output_tokens: completion }),
    genai: (prompt, completion) => ({ promptTokenCount: prompt, candidatesTokenCount: completion }),
    responses: (prompt, completion) => ({ input_tokens: prompt, output_tokens: completion }),
  };

  for (const host of CLIENTS) {
    test.each(WAYS)(`${host}, above the limit: $client, stream $stream`, async ({ client, stream }) => {
      play(host, LARGE[host](10, 1e9), stream);
      const { receipt } = await ask(client, host, { stream, body: limited(client, 50) });
      expect(receipt).toMatchObject({
        usage: { input: 10, output: 50 },
        usage_source: "estimated",
        cost_nano_usd: 10 * 1_000 + 50 * 2_000,
        reported: { input: 10, output: 1e9 },
        usage_corrections: ["output_above_limit"],
      });
    });
  }

  test("usage at the limit is measured", async () => {
    play("chat", LARGE.chat(10, 50), false);
    expect((await ask("chat", "chat", { body: limited("chat", 50) })).receipt).toMatchObject({
      usage: { output: 50 },
      usage_source: "measured",
      reported: null,
      usage_corrections: [],
    });
  });

  // A host whose least limit is 16 tokens, whatever was asked for.
  test.each(WAYS)("a text that passed is never billed below itself: $client, stream $stream", async (way) => {
    const text = "One two three, four five six, seven eight nine, ten eleven twelve.";
    play("chat", LARGE.chat(10, 16), way.stream, text);
    const { receipt } = await ask(way.client, "chat", { stream: way.stream, body: limited(way.client, 1) });
    expect(receipt).toMatchObject({ usage: { output: 16 }, usage_source: "measured", usage_corrections: [] });
    play("chat", LARGE.chat(10, 1e9), way.stream, text);
    const absurd = await ask(way.client, "chat", { stream: way.stream, body: limited(way.client, 1) });
    expect(absurd.receipt).toMatchObject({ usage: { output: text.length }, usage_source: "estimated" });
  });

  test("without a limit, that of the model applies", async () => {
    play("chat", LARGE.chat(10, 1e9), false);
    const answer = await harness.call("chat");
    expect(await harness.receipt(answer)).toMatchObject({ usage: { output: 8_192 }, usage_source: "estimated" });
  });

  test("a prompt above the context is billed as an estimate of what was sent", async () => {
    play("chat", { ...LARGE.chat(1e9, 5), prompt_tokens_details: { cached_tokens: 5e8 } }, false);
    const { receipt } = await ask("chat", "chat");
    expect(receipt).toMatchObject({
      usage: { cache_read: null, output: 5 },
      usage_source: "estimated",
      usage_corrections: ["prompt_above_context"],
      reported: { input: 5e8, cache_read: 5e8, output: 5 },
    });
    expect(receipt.usage["input"]).toBeLessThan(50);
  });

  test.each([false, true])("a model that shows all it generates is bounded by the text: stream %p", async (stream) => {
    play("chat", LARGE.chat(10, 150_000), stream, "hello you");
    const answer = await harness.call("chat", { model: "test/plain", stream });
    expect(await harness.receipt(answer)).toMatchObject({
      usage: { output: 4_096 + 4 * 9 },
      usage_source: "estimated",
      usage_corrections: ["output_above_limit"],
    });
  });

  test("the log and a metric report it", async () => {
    play("chat", LARGE.chat(10, 1e9), false);
    await ask("chat", "chat");
    await harness.clock.pass(1_000);
    const warned = logged.filter((line) => line.includes("implausible usage") && line.includes("output_above_limit"));
    expect(warned.length).toBeGreaterThan(0);
    const family = harness.gateway.metrics.families().find(({ name }) => name === "trivium_usage_corrected_total");
    expect(JSON.stringify(family)).toContain("output_above_limit");
  });

  test("a response that broke off is bounded too", async () => {
    const { upstream } = harness;
    upstream.play(
      upstream.brokenStream(
        wire.genaiChunk("hello", undefined, LARGE.genai(10, 1e9)),
        10,
        wire.genaiChunk(" you", undefined, LARGE.genai(10, 1e9)),
        10,
      ),
    );
    const { receipt } = await ask("genai", "genai", { stream: true, body: limited("genai", 50) });
    expect(receipt).toMatchObject({
      usage: { input: 10, output: 50 },
      usage_source: "partial",
      reported: { output: 1e9 },
    });
  });
});

describe("H27: a total beyond its parts is assigned", () => {
  test.each(WAYS)("in genai as elsewhere: $client, stream $stream", async ({ client, stream }) => {
    play("genai", { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 5_000 }, stream);
    const { receipt, usage } = await ask(client, "genai", { stream });
    expect(receipt).toMatchObject({ usage: { input: 10, output: 5, reasoning: 4_985 }, usage_source: "measured" });
    expect(countsOf(usage)).toMatchObject({ prompt: 10, completion: 4_990 });
  });

  test.each(CLIENTS)("a last chunk with a total and no output count: %s", async (client) => {
    const { upstream } = harness;
    upstream.play(
      upstream.stream(
        wire.genaiChunk("hello") + wire.genaiChunk(" you", "STOP", { promptTokenCount: 10, totalTokenCount: 30 }),
      ),
    );
    const { receipt, usage } = await ask(client, "genai", { stream: true });
    expect(receipt).toMatchObject({ usage: { input: 10, output: 20 }, usage_source: "measured" });
    expect(countsOf(usage)).toMatchObject({ prompt: 10, completion: 20 });
  });
});

describe("H39: zeros never replace a count", () => {
  const zeros = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
  const counted = { prompt_tokens: 4_500, completion_tokens: 20, total_tokens: 4_520 };

  test.each(CLIENTS)("a chat stream that reports zeros at its end: %s", async (client) => {
    const { upstream } = harness;
    upstream.play(
      upstream.stream(
        wire.chatChunk({ content: "hello you" }) +
          wire.chatChunk({}, "stop") +
          wire.chatUsage(counted) +
          wire.chatUsage(zeros) +
          wire.done,
      ),
    );
    const { receipt, usage, answer } = await ask(client, "chat", { stream: true });
    expect(receipt).toMatchObject({ usage: { input: 4_500, output: 20 }, usage_source: "measured" });
    expect(countsOf(usage)).toMatchObject({ prompt: 4_500, completion: 20 });
    if (client === "chat") expect(answer.text.match(/"usage":\{/g)).toHaveLength(1);
  });

  test("zeros in a chunk with other content are removed from it", async () => {
    const { upstream } = harness;
    upstream.play(
      upstream.stream(
        wire.chatChunk({ content: "hello you" }, null, { usage: counted }) +
          wire.chatChunk({}, "stop", { usage: zeros }) +
          wire.done,
      ),
    );
    const { usage, answer } = await ask("chat", "chat", { stream: true });
    expect(usage).toMatchObject({ input: 4_500, output: 20 });
    expect(answer.text).toContain('"finish_reason":"stop"');
  });

  test.each(CLIENTS)("a genai stream that reports zeros at its end: %s", async (client) => {
    const { upstream } = harness;
    const usage = { promptTokenCount: 4_500, candidatesTokenCount: 20, totalTokenCount: 4_520 };
    const none = { promptTokenCount: 0, candidatesTokenCount: 0, totalTokenCount: 0 };
    const only = `data: ${JSON.stringify({ usageMetadata: none })}\r\n\r\n`;
    upstream.play(
      upstream.stream(wire.genaiChunk("hello you", undefined, usage) + wire.genaiChunk("", "STOP", none) + only),
    );
    const told = await ask(client, "genai", { stream: true });
    expect(told.receipt).toMatchObject({ usage: { input: 4_500, output: 20 }, usage_source: "measured" });
    expect(countsOf(told.usage)).toMatchObject({ prompt: 4_500, completion: 20 });
  });

  test.each(CLIENTS)("a messages stream whose end has zeros for the prompt of its beginning: %s", async (client) => {
    const { upstream } = harness;
    upstream.play(
      upstream.stream(
        wire.messageStart({ input_tokens: 4_500, output_tokens: 1 }) +
          wire.textBlock("hello you") +
          wire.messageEnd({ input_tokens: 0, output_tokens: 20 }),
      ),
    );
    const { receipt, usage } = await ask(client, "messages", { stream: true });
    expect(receipt).toMatchObject({ usage: { input: 4_500, output: 20 }, usage_source: "measured" });
    expect(countsOf(usage)).toMatchObject({ prompt: 4_500, completion: 20 });
  });

  test.each(WAYS)(
    "zeros next to the stop of a filter are a measurement: $client, stream $stream",
    async ({ client, stream }) => {
      const { upstream } = harness;
      const blocked = "Sorry, your administrators do not allow this.";
      upstream.play(
        stream
          ? upstream.stream(
              wire.chatChunk({ content: blocked }) +
                wire.chatChunk({}, "content_filter") +
                wire.chatUsage(zeros) +
                wire.done,
            )
          : upstream.json(plainAnswer("chat", { text: blocked, usage: zeros, stop: "content_filter" })),
      );
      const { receipt } = await ask(client, "chat", { stream });
      expect(receipt).toMatchObject({ usage: { input: 0, output: 0 }, usage_source: "measured", cost_nano_usd: 0 });
    },
  );
});

describe("H14: usage that comes before a failure is billed", () => {
  test.each(CLIENTS)("response.failed with a usage: %s", async (client) => {
    const { upstream } = harness;
    const script = new ResponsesScript();
    const usage = {
      input_tokens: 4_500,
      output_tokens: 20,
      output_tokens_details: { reasoning_tokens: 11 },
      total_tokens: 4_520,
    };
    const failed = {
      ...responsesAnswer("", usage),
      status: "failed",
      output: [],
      error: { code: "server_error", message: "no" },
    };
    upstream.play(
      upstream.stream(script.begin() + script.delta("hello you") + script.event("failed", { response: failed })),
    );
    const { receipt } = await ask(client, "responses", { stream: true });
    expect(receipt).toMatchObject({
      usage: { input: 4_500, output: 9, reasoning: 11 },
      usage_source: "partial",
      cost_nano_usd: 4_500 * 1_000 + 20 * 2_000,
    });
  });

  test.each(CLIENTS)("genai chunks, then an error: %s", async (client) => {
    const { upstream } = harness;
    const usage = (output: number) => ({
      promptTokenCount: 4_500,
      candidatesTokenCount: output,
      totalTokenCount: 4_500 + output,
    });
    const error = `data: ${JSON.stringify({ error: { code: 500, message: "no", status: "INTERNAL" } })}\r\n\r\n`;
    const chunks = ["hello", " you", " there", " now"].map((text, index) =>
      wire.genaiChunk(text, undefined, usage(5 * (index + 1))),
    );
    upstream.play(upstream.stream(...chunks, error));
    const { receipt } = await ask(client, "genai", { stream: true });
    expect(receipt).toMatchObject({ usage: { input: 4_500, output: 20 }, usage_source: "partial" });
  });

  test.each(CLIENTS)("genai chunks, then a broken connection: %s", async (client) => {
    const { upstream } = harness;
    const usage = (output: number) => ({
      promptTokenCount: 4_500,
      candidatesTokenCount: output,
      totalTokenCount: 4_500 + output,
    });
    const chunks = ["hello", " you", " there", " now"].map((text, index) =>
      wire.genaiChunk(text, undefined, usage(5 * (index + 1))),
    );
    upstream.play(upstream.brokenStream(...chunks.flatMap((chunk) => [chunk, 10])));
    const { receipt } = await ask(client, "genai", { stream: true });
    expect(receipt).toMatchObject({ usage: { input: 4_500, output: 20 }, usage_source: "partial" });
  });
});

test.each(CLIENTS)("H40: the text of an error in a stream is never counted as completion: %s", async (client) => {
  const { upstream } = harness;
  const error = `data: ${JSON.stringify({ error: { message: "x".repeat(8_000), type: "server_error" } })}\n\n`;
  upstream.play(upstream.stream(wire.chatChunk({ content: "hello you" }), error));
  const { receipt } = await ask(client, "chat", { stream: true });
  expect(receipt).toMatchObject({ usage_source: "partial", usage: { output: 3 } });
});

describe("H16, providers 1.8: a stop without content that the host has counted is a response, billed once", () => {
  const REASONS = [
    "MALFORMED_FUNCTION_CALL",
    "TOO_MANY_TOOL_CALLS",
    "UNEXPECTED_TOOL_CALL",
    "MISSING_THOUGHT_SIGNATURE",
    "MALFORMED_RESPONSE",
  ];
  const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 7, totalTokenCount: 17 };
  const STOPS: Record<ScriptedDialect, (reason: string) => string> = {
    chat: () => '"finish_reason":"content_filter"',
    messages: () => '"stop_reason":"refusal"',
    responses: () => '"status":"incomplete"',
    genai: (reason) => `"finishReason":"FINISH_REASON_${reason}"`,
  };

  for (const reason of REASONS) {
    test.each(WAYS)(`${reason}: $client, stream $stream`, async ({ client, stream }) => {
      const { upstream } = harness;
      const answer = {
        candidates: [{ finishReason: reason, index: 0 }],
        usageMetadata,
        modelVersion: "upstream-model",
      };
      upstream.play(stream ? upstream.stream(`data: ${JSON.stringify(answer)}\r\n\r\n`) : upstream.json(answer));
      const told = await ask(client, "genai", { stream });
      expect(upstream.requests).toHaveLength(1);
      expect(told.answer.status).toBe(200);
      expect(told.answer.text).toContain(STOPS[client](reason));
      expect(told.receipt).toMatchObject({
        usage: { input: 10, output: 7 },
        usage_source: "measured",
        cost_nano_usd: 10 * 1_000 + 7 * 2_000,
        stop: { unified: "abnormal", raw: reason },
      });
    });
  }

  test("without usage it is a failure, and the offer is retried", async () => {
    const { upstream } = harness;
    const answer = { candidates: [{ finishReason: "MALFORMED_FUNCTION_CALL", index: 0 }] };
    upstream.play(upstream.json(answer), upstream.json(answer));
    const told = await ask("chat", "genai");
    expect(told.answer.status).toBe(502);
    expect(told.receipt).toMatchObject({ cost_nano_usd: 0 });
  });
});
