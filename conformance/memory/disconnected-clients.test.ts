import { beforeAll, describe, expect, test } from "bun:test";
import { MAX_ORPHANS } from "../../src/relay/attempt/watched-attempt.ts";
import { DEFAULT_TIMINGS } from "../../src/relay/settle/timings.ts";
import type { CallOptions } from "../../testing/build-call.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import type { Reply } from "../../testing/memory-exchange.ts";
import { plainAnswer } from "../../testing/plain-answer.ts";
import { type SampledDialect, SCRIPTED_DIALECTS, type ScriptedDialect } from "../../testing/sampled-dialects.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { ResponsesScript, responsesUsage } from "../../testing/wires/responses-wire.ts";

/**
 * H26: started work is billed by the upstream's own figures, and disconnecting early is never cheaper than the
 * response.
 */
const keyOf = (name: string) => `sk-trv-${name.padEnd(43, "x")}`;
const READ_ON_MS = DEFAULT_TIMINGS.readOnMs;
/** By then a gateway has noticed that its client disconnected. */
const NOTICED_MS = 200;
const SILENCE_MS = 60_000;

const price = (value: number) => [{ value, unit: "perMTokens", currency: "USD" }];
const sections = () => {
  const { models, providers } = modelsOfEveryDialect(UPSTREAM_URL, { first_byte: SILENCE_MS, idle: SILENCE_MS }) as {
    models: object[];
    providers: object;
  };
  const offers = [
    { provider: "up-chat", model: "upstream-model", pricings: { prompt: price(3), completion: price(4) } },
  ];
  return {
    providers,
    models: [...models, { id: "test/priced-offer", context_length: 1000, pricings: {}, offers }],
    keys: [
      { name: "tests", key: TEST_KEY },
      { name: "poor", key: keyOf("Poor"), limits: { budget_usd_per_day: 0.0003 } },
    ],
  };
};

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.start({ config: sections() });
});

interface Row {
  outcome: string;
  usage_source: string;
  usage_input: number | null;
  usage_output: number | null;
  usage_reasoning: number | null;
  usage_searches: number | null;
  cost_nano_usd: number;
  offers: string;
}

const rowsOf = async ({ storage }: Harness) =>
  (await storage.query("SELECT * FROM receipts ORDER BY id")) as unknown as Row[];

/** The row of the single call in between; nothing else remains. */
async function rowOf(call: () => Promise<void>, at = harness): Promise<Row> {
  const before = (await rowsOf(at)).length;
  await call();
  await at.clock.pass(READ_ON_MS + 1_000);
  const rows = await rowsOf(at);
  expect([rows.length - before, at.leftovers()]).toMatchObject([
    1,
    { runningCalls: 0, orphanedTexts: 0, openUpstreams: 0 },
  ]);
  return rows.at(-1) as Row;
}

/** Whether the gateway ended its request before the upstream did. */
const ended = (at = harness) => at.upstream.replies.map(({ closedAtMs }) => closedAtMs !== undefined);

/** Reads a stream up to some word, then disconnects. */
async function leaveAt(word: string, client: ScriptedDialect, options: CallOptions, at = harness): Promise<void> {
  const call = at.send(client, { ...options, stream: true });
  await at.clock.until(call.reads(word));
  call.disconnect();
}

const script = new ResponsesScript();
const BEGINNING: Record<ScriptedDialect, string> = {
  chat: wire.chatChunk({ content: "All but the " }) + wire.chatChunk({ content: "last" }),
  messages: wire.messageStart({ input_tokens: 10, output_tokens: 1 }) + wire.textBlock("All but the ", "last"),
  genai: wire.genaiChunk("All but the ") + wire.genaiChunk("last"),
  responses: script.begin() + script.delta("All but the ") + script.delta("last"),
};
const END: Record<ScriptedDialect, string> = {
  chat:
    wire.chatChunk({}, "stop") +
    wire.chatUsage({
      prompt_tokens: 10,
      completion_tokens: 85,
      total_tokens: 95,
      completion_tokens_details: { reasoning_tokens: 80 },
    }) +
    wire.done,
  messages: wire.messageEnd({ output_tokens: 85, output_tokens_details: { thinking_tokens: 80 } }),
  genai: wire.genaiChunk("", "STOP", {
    promptTokenCount: 10,
    candidatesTokenCount: 5,
    thoughtsTokenCount: 80,
    totalTokenCount: 95,
  }),
  responses: script.close() + script.completed(responsesUsage(10, 85, 80)),
};
const MEASURED = {
  usage_source: "measured",
  usage_input: 10,
  usage_output: 5,
  usage_reasoning: 80,
  cost_nano_usd: 10 * 1_000 + 85 * 2_000,
};

/** An upstream that begins, and ends on request. */
function playStream(host: ScriptedDialect): () => void {
  harness.upstream.play(harness.upstream.openStream(BEGINNING[host]));
  return () => {
    const [reply] = harness.upstream.replies;
    void reply?.write(END[host]);
    reply?.end();
  };
}

describe("H26: the client disconnects at the last word, before the usage", () => {
  test.each(SCRIPTED_DIALECTS.flatMap((client) => SCRIPTED_DIALECTS.map((host) => [client, host] as const)))(
    "a %s client, a %s host: the upstream's own figures are billed",
    async (client, host) => {
      const end = playStream(host);
      const row = await rowOf(async () => {
        await leaveAt("last", client, { model: `test/${host}` });
        await harness.clock.pass(NOTICED_MS);
        end();
      });
      expect(row).toMatchObject(MEASURED);
      expect(ended()).toEqual([false]);
    },
  );

  test("its key's budget pays for all of it", async () => {
    const key = keyOf("Poor");
    const end = playStream("chat");
    const small = { max_completion_tokens: 85 };
    await rowOf(async () => {
      await leaveAt("last", "chat", { key, body: small });
      await harness.clock.pass(NOTICED_MS);
      end();
    });
    // 0.00018 USD of 0.0003 are spent: a response of 85 tokens might cost 0.00017.
    expect((await harness.call("chat", { key, body: small })).status).toBe(402);
  });
});

describe("H26: an endless upstream is ended, and an estimate is billed", () => {
  /** Sends some text, and then nothing more, or more and more. */
  const playOn = (host: SampledDialect, said: string, more?: string, at = harness) => {
    const first = { chat: wire.chatChunk({ content: said }), messages: wire.messageStart() + wire.textBlock(said) };
    const begins = host === "genai" ? wire.genaiChunk(said) : first[host];
    const { upstream } = at;
    upstream.play(more === undefined ? upstream.openStream(begins) : upstream.endlessStream(20, more, begins));
  };

  test.each([
    ["responses", { reasoning: { effort: "low" } }, 2_048],
    ["responses", { reasoning: { effort: "high" } }, 8_191],
    ["responses", { reasoning: { effort: "none" } }, 0],
    ["responses", { reasoning: { effort: "high" }, max_output_tokens: 1_000 }, 999],
    ["chat", { reasoning_effort: "low" }, 2_048],
    // The model's own limit is 8,192, and one token of it was seen.
    ["chat", { reasoning_effort: "high" }, 8_191],
    ["chat", { reasoning: { max_tokens: 5_000 } }, 5_000],
    ["chat", { reasoning_effort: "none" }, 0],
    ["chat", { reasoning_effort: "high", max_completion_tokens: 1_000 }, 999],
  ] as const)("a %s client that requests %j pays for %p tokens of unseen thinking", async (client, body, least) => {
    playOn("chat", "last", wire.chatChunk({ content: "" }));
    const row = await rowOf(() => leaveAt("last", client, { model: "test/chat", body }));
    expect(ended()).toEqual([true]);
    expect(row).toMatchObject({ outcome: "client_gone", usage_source: "partial", usage_output: 1 });
    expect(row.usage_reasoning ?? 0).toBe(least);
  });

  test.each([
    ["messages", { max_tokens: 8_000, thinking: { type: "enabled", budget_tokens: 4_000 } }],
    ["genai", { generationConfig: { thinkingConfig: { thinkingBudget: 4_000 } } }],
  ] as const)("a %s client's budget counts too, in translation", async (client, body) => {
    playOn("chat", "last");
    const row = await rowOf(() => leaveAt("last", client, { model: "test/chat", body }));
    expect(row).toMatchObject({ usage_source: "partial", usage_output: 1, usage_reasoning: 4_000 });
  });

  test("shown thoughts are not billed twice", async () => {
    const thought = wire.chatChunk({ reasoning_content: "t".repeat(400) });
    harness.upstream.play(harness.upstream.openStream(thought + wire.chatChunk({ content: "last" })));
    const row = await rowOf(() => leaveAt("last", "chat", { body: { reasoning_effort: "high" } }));
    expect(row).toMatchObject({ usage_source: "partial", usage_output: 101, usage_reasoning: null });
  });

  test.each(
    SCRIPTED_DIALECTS.flatMap((client) => (["chat", "messages"] as const).map((host) => [client, host] as const)),
  )("a %s client, a %s host: a Chinese character is about a token", async (client, host) => {
    playOn(host, `${"中文字符".repeat(250)}终`);
    const body = {
      chat: { reasoning_effort: "none" },
      messages: { max_tokens: 8_000, thinking: { type: "disabled" } },
      genai: { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } },
      responses: { reasoning: { effort: "none" } },
    }[client];
    const row = await rowOf(() => leaveAt("终", client, { model: `test/${host}`, body }));
    expect(row).toMatchObject({ outcome: "client_gone", usage_source: "partial" });
    expect(row.usage_output ?? 0).toBeGreaterThanOrEqual(1_000);
    expect(row.usage_output ?? 0).toBeLessThan(1_100);
  });

  test.each(SCRIPTED_DIALECTS.flatMap((client) => SCRIPTED_DIALECTS.map((host) => [client, host] as const)))(
    "a %s client, a %s host: each event is at least one token, however short",
    async (client, host) => {
      const digits = Array.from({ length: 60 }, (_, index) => String(index % 10));
      harness.upstream.play((reply) => {
        reply.head(200, { "content-type": "text/event-stream" });
        const delta = (text: string) =>
          wire.event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } });
        const said = [...digits, "last"];
        const words = new ResponsesScript();
        const chunks = {
          chat: () => said.map((content) => wire.chatChunk({ content })),
          messages: () => [wire.messageStart(), wire.textBlock(), ...said.map(delta)],
          // A host that reports nothing along the way.
          genai: () => said.map((text) => wire.genaiChunk(text, undefined, {})),
          responses: () => [words.begin(), ...said.map((text) => words.delta(text))],
        }[host]();
        for (const chunk of chunks) void reply.write(chunk);
      });
      const body = {
        chat: { reasoning_effort: "none" },
        messages: { max_tokens: 8_000, thinking: { type: "disabled" } },
        genai: { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } },
        responses: { reasoning: { effort: "none" } },
      }[client];
      const row = await rowOf(() => leaveAt("last", client, { model: `test/${host}`, body }));
      expect(row).toMatchObject({ outcome: "client_gone", usage_source: "partial" });
      expect(row.usage_output ?? 0).toBeGreaterThanOrEqual(digits.length);
    },
  );

  test.each([...SCRIPTED_DIALECTS])(
    "a %s client pays for the searches that it has seen, though their number comes at the end",
    async (client) => {
      harness.upstream.play((reply) => {
        reply.head(200, { "content-type": "text/event-stream" });
        const search = (index: number, content: unknown) => [
          wire.event({
            type: "content_block_start",
            index,
            content_block: { type: "server_tool_use", id: `srvtoolu_${index}`, name: "web_search", input: {} },
          }),
          wire.event({ type: "content_block_stop", index }),
          wire.event({
            type: "content_block_start",
            index: index + 1,
            content_block: { type: "web_search_tool_result", tool_use_id: `srvtoolu_${index}`, content },
          }),
          wire.event({ type: "content_block_stop", index: index + 1 }),
        ];
        const page = {
          type: "web_search_result",
          url: "https://example.com",
          title: "A page",
          encrypted_content: "EqgB",
        };
        const failed = { type: "web_search_tool_result_error", error_code: "unavailable" };
        const text = [
          wire.event({ type: "content_block_start", index: 9, content_block: { type: "text", text: "" } }),
          wire.event({ type: "content_block_delta", index: 9, delta: { type: "text_delta", text: "last" } }),
        ];
        const blocks = [...search(0, [page]), ...search(2, [page]), ...search(4, failed), ...text];
        void reply.write(wire.messageStart() + blocks.join(""));
      });
      const row = await rowOf(() => leaveAt("last", client, { model: "test/messages" }));
      expect(row).toMatchObject({ outcome: "client_gone", usage_source: "partial", usage_searches: 2 });
    },
  );

  test("a fast upstream is ended by its bytes, long before its time", async () => {
    const patient = await Harness.start({ config: sections(), timings: { readOnMs: 600_000 } });
    const chunk = wire.chatChunk({ content: "x".repeat(100_000) });
    playOn("chat", "last", chunk.repeat(10), patient);
    await rowOf(() => leaveAt("last", "chat", {}, patient), patient);
    expect(ended(patient)).toEqual([true]);
  });
});

describe("the client disconnects before the first content", () => {
  test.each([
    ["a non-streamed answer", false, 0],
    ["a stream whose headers are not sent", true, 0],
    ["a stream with keep-alives", true, DEFAULT_TIMINGS.commitDeadlineMs + 20_000],
  ] as const)("%s: what arrives is billed by its own figures", async (_, stream, afterMs) => {
    for (const dialect of SCRIPTED_DIALECTS) {
      harness.upstream.play(() => {});
      const row = await rowOf(async () => {
        const call = harness.send(dialect, { stream });
        await harness.clock.pass(afterMs);
        call.disconnect();
        await harness.clock.pass(NOTICED_MS);
        const [reply] = harness.upstream.replies as [Reply];
        reply.head(200, { "content-type": stream ? "text/event-stream" : "application/json" });
        void reply.write(stream ? BEGINNING[dialect] + END[dialect] : JSON.stringify(wholeAnswer(dialect)));
        reply.end();
      });
      expect(row).toMatchObject({ outcome: "client_gone", ...MEASURED });
      expect(ended()).toEqual([false]);
    }
  });

  test.each([true, false])("stream %p: nothing arrives: the prompt, and what its time allows", async (stream) => {
    harness.upstream.play(() => {});
    const row = await rowOf(async () => {
      const body = { reasoning_effort: "none", messages: [{ role: "user", content: "word ".repeat(4_000) }] };
      const call = harness.send("chat", { stream, body });
      await harness.clock.pass(0);
      call.disconnect();
    });
    expect(ended()).toEqual([true]);
    expect(row).toMatchObject({ outcome: "client_gone", usage_source: "partial" });
    expect(row.usage_input).toBeGreaterThan(4_900);
    const generated = (row.usage_output ?? 0) + (row.usage_reasoning ?? 0);
    expect(generated).toBeGreaterThanOrEqual(READ_ON_MS / 10);
    expect(generated).toBeLessThan(READ_ON_MS / 3);
  });

  test.each([
    ["before anything was sent", false, 1_000],
    ["after the early commit", true, DEFAULT_TIMINGS.commitDeadlineMs + 20_000],
  ] as const)(
    "H14, decision 0017: a client that disconnects %s pays for its prompt, at the offer's price",
    async (_, stream, afterMs) => {
      const body = { reasoning_effort: "none", messages: [{ role: "user", content: "word ".repeat(4_000) }] };
      for (const [model, nanoUsdPerToken, perGenerated] of [
        ["test/chat", 1_000, 2_000],
        ["test/priced-offer", 3_000, 4_000],
      ] as const) {
        harness.upstream.play(() => {});
        const row = await rowOf(async () => {
          const call = harness.send("chat", { model, stream, body });
          await harness.clock.pass(afterMs);
          call.disconnect();
        });
        const generated = (row.usage_output ?? 0) + (row.usage_reasoning ?? 0);
        expect(row.usage_input).toBeGreaterThan(4_900);
        expect(row.cost_nano_usd).toBe((row.usage_input ?? 0) * nanoUsdPerToken + generated * perGenerated);
      }
    },
  );

  test("the provider fails: nothing is billed, and no other provider is called", async () => {
    harness.upstream.play(() => {});
    const row = await rowOf(async () => {
      const call = harness.send("chat");
      await harness.clock.pass(0);
      call.disconnect();
      await harness.clock.pass(NOTICED_MS);
      const [reply, ...more] = harness.upstream.replies as [Reply];
      const error = { error: { message: "broken", type: "server_error" } };
      harness.upstream.json(error, 500)(reply, { url: "", headers: {}, body: "", atMs: 0 });
      expect(more).toEqual([]);
    });
    expect(row).toMatchObject({ outcome: "client_gone", cost_nano_usd: 0 });
    expect(row.offers).toContain('"failed"');
    expect(harness.upstream.requests).toHaveLength(1);
  });
});

/** Mostly thoughts that were never shown. */
const USAGE: Record<ScriptedDialect, object> = {
  chat: { prompt_tokens: 10, completion_tokens: 85, completion_tokens_details: { reasoning_tokens: 80 } },
  messages: { input_tokens: 10, output_tokens: 85, output_tokens_details: { thinking_tokens: 80 } },
  genai: { promptTokenCount: 10, candidatesTokenCount: 5, thoughtsTokenCount: 80, totalTokenCount: 95 },
  responses: responsesUsage(10, 85, 80),
};
const wholeAnswer = (host: ScriptedDialect): object => plainAnswer(host, { text: "All of it.", usage: USAGE[host] });

test("H13: the number of upstreams read without a client is limited, and the end of the program ends them all", async () => {
  const patient = await Harness.start({ config: sections(), timings: { readOnMs: 600_000 } });
  patient.upstream.play(() => {});
  const surplus = 4;
  const calls = Array.from({ length: MAX_ORPHANS.orphanedTexts + surplus }, () => patient.send("chat"));
  await patient.clock.pass(1_000);
  expect(patient.upstream.open).toBe(MAX_ORPHANS.orphanedTexts + surplus);
  for (const call of calls) call.disconnect();
  await patient.clock.pass(1_000);
  expect([patient.upstream.open, (await rowsOf(patient)).length]).toEqual([MAX_ORPHANS.orphanedTexts, surplus]);
  patient.gateway.closing = true;
  await patient.clock.pass(1_000);
  expect(patient.leftovers()).toMatchObject({ runningCalls: 0, orphanedTexts: 0, openUpstreams: 0 });
  const rows = await rowsOf(patient);
  expect(rows).toHaveLength(MAX_ORPHANS.orphanedTexts + surplus);
  for (const row of rows) expect(row).toMatchObject({ outcome: "client_gone", usage_source: "partial" });
});
