import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import type { Script } from "../../testing/memory-network.ts";
import { plainAnswer, plainUsage } from "../../testing/plain-answer.ts";
import type { ReceiptData } from "../../testing/receipt-data.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import type { ReadAnswer } from "../../testing/sent-call.ts";
import { TEST_KEY } from "../../testing/test-key.ts";

/**
 * Ways to get something for nothing, and honest requests that must not be refused. Each test states what should
 * happen.
 */
const BUDGET = "a-key-of-the-configuration-budget";
const POOR = "a-key-of-the-configuration-poor";

interface ConfiguredModel {
  id: string;
  offers: object[];
}
const MODELS = modelsOfEveryDialect(UPSTREAM_URL) as {
  providers: object;
  models: [ConfiguredModel, ...ConfiguredModel[]];
};
const [CHAT] = MODELS.models;
const modelAt = (id: string, provider: string, more: object = {}) => ({
  ...CHAT,
  id,
  offers: [{ provider, model: "upstream-model", ...more }],
});

const price = (value: number) => [{ value, unit: "perMTokens", currency: "USD" }];

const CONFIG = {
  ...MODELS,
  providers: {
    ...MODELS.providers,
    "up-second": {
      kind: "openai",
      base_url: `${UPSTREAM_URL}/v1`,
      api_key: "k",
      timeout_ms: { first_byte: 3_000, idle: 1_500 },
    },
    "up-compatible": { kind: "openai-compatible", base_url: `${UPSTREAM_URL}/v1`, api_key: "k" },
    "up-openrouter": { kind: "openrouter", base_url: `${UPSTREAM_URL}/api/v1`, api_key: "k" },
    "up-groq": { kind: "groq", base_url: `${UPSTREAM_URL}/openai/v1`, api_key: "k" },
    "up-bedrock": {
      kind: "bedrock",
      region: "us-east-1",
      base_url: UPSTREAM_URL,
      access_key_id: "AKIAAAAAAAAAAAAAAAAA",
      secret_access_key: "s".repeat(40),
    },
  },
  models: [
    ...MODELS.models,
    modelAt("test/compatible", "up-compatible"),
    { ...CHAT, id: "test/two", offers: [...CHAT.offers, { provider: "up-second", model: "upstream-model" }] },
    { ...modelAt("test/long", "up-messages"), context_length: 1_000_000 },
    modelAt("test/openrouter", "up-openrouter"),
    modelAt("test/groq", "up-groq"),
    modelAt("test/bedrock", "up-bedrock", { model: "anthropic.claude-sonnet-4-v1:0", dialect: "messages" }),
    {
      ...modelAt("test/spoken", "up-chat"),
      output_modalities: ["text", "audio"],
      pricings: { prompt: price(1), completion: price(2), audio_output: price(64) },
    },
    {
      ...modelAt("test/drawn", "up-genai"),
      output_modalities: ["text", "image"],
      pricings: { prompt: price(1), completion: price(2), image: price(30) },
    },
    {
      ...modelAt("test/drawn-in-chat", "up-openrouter"),
      output_modalities: ["text", "image"],
      pricings: { prompt: price(1), completion: price(2), image: price(30) },
    },
    {
      ...modelAt("test/steps", "up-chat"),
      context_length: 1_000_000,
      pricings: {
        prompt: [
          { ...price(1)[0], conditions: { prompt_tokens: { unit: "kTokens", gte: 0, lte: 200 } } },
          { ...price(3)[0], conditions: { prompt_tokens: { unit: "kTokens", gt: 200 } } },
        ],
        completion: price(2),
      },
    },
    {
      ...modelAt("test/priced", "up-compatible"),
      tools: [{ name: "web_search", unit: "call", usd: 0.5 }],
    },
  ],
  keys: [
    { name: "tests", key: TEST_KEY },
    { name: "budget", key: BUDGET, limits: { budget_usd_total: 1_000 } },
    { name: "poor", key: POOR, limits: { budget_usd_total: 0.05 } },
  ],
};

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.start({ config: CONFIG });
});
afterAll(() => expect(harness.leftovers()).toMatchObject({ runningCalls: 0 }));

const user = (content: unknown) => [{ role: "user", content }];
const responses = (more: object) => ({ model: "test/responses", input: "Hi", ...more });
const chat = (more: object) => ({ model: "test/chat", messages: user("Hi"), ...more });
const messages = (more: object) => ({ model: "test/messages", max_tokens: 50, messages: user("Hi"), ...more });
const GENAI = "/v1/publishers/test/models/genai:generateContent";
const contents = (parts: readonly object[], more: object = {}) => ({ contents: [{ role: "user", parts }], ...more });

const plain = (dialect: "chat" | "messages" | "genai" | "responses", usage: object = plainUsage(dialect, 10, 5)) =>
  plainAnswer(dialect, { text: "Hello.", usage }) as Record<string, unknown>;
const item = (type: string, more: object = {}) => ({ type, id: `${type}_1`, status: "completed", ...more });
const answerWith = (items: readonly object[], usage = plainUsage("responses", 10, 5)) => {
  const answer = plain("responses", usage);
  return { ...answer, output: [...items, ...(answer["output"] as object[])] };
};

async function ask(
  path: string,
  body: object,
  answer: object,
  { key = BUDGET, headers = {} }: { key?: string; headers?: Record<string, string> } = {},
): Promise<{ given: ReadAnswer; sent: number; receipt: ReceiptData | undefined }> {
  const { upstream } = harness;
  upstream.play(typeof answer === "function" ? (answer as Script) : upstream.json(answer));
  const given = await harness.clock.until(
    harness.sendPost(path, body, key, { "anthropic-version": "2023-06-01", ...headers }).answer,
  );
  const sent = upstream.requests.length;
  const id = given.headers.get("x-trivium-receipt");
  return { given, sent, receipt: id === null ? undefined : await receiptOf(id, key) };
}

/** What the host was sent. */
const sentBody = () => JSON.parse(String(harness.upstream.requests[0]?.body)) as object;

async function receiptOf(id: string, key: string): Promise<ReceiptData> {
  const found = await harness.get(`/api/v1/generation?id=${id}`, { authorization: `Bearer ${key}` });
  return (JSON.parse(found.text) as { data: ReceiptData }).data;
}

/** The client reads up to a word and disconnects; returns the receipt of what it then owes. */
async function leaveAfter(word: string, path: string, body: object, script: Script): Promise<ReceiptData> {
  harness.upstream.play(script);
  const sent = harness.sendPost(path, body, BUDGET, { "anthropic-version": "2023-06-01" });
  await harness.clock.until(sent.reads(word));
  sent.disconnect();
  await harness.clock.until(harness.clock.sleep(60_000));
  const [row] = await harness.storage.query("SELECT id FROM receipts ORDER BY id DESC LIMIT 1");
  return receiptOf(String(row?.["id"]), BUDGET);
}

const event = (value: { type: string }) => `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
const begun = {
  type: "response.created",
  sequence_number: 0,
  response: { ...plain("responses"), status: "in_progress", output: [], usage: null },
};
const startedItem = (type: string) => ({
  type: "response.output_item.added",
  sequence_number: 1,
  output_index: 0,
  item: { type, id: "i_1", status: "in_progress" },
});
const progress = (type: string, more: object = {}) => ({
  type,
  sequence_number: 2,
  output_index: 0,
  item_id: "i_1",
  ...more,
});

describe("a client that disconnects before a hosted tool is done pays for it", () => {
  /** A stream that stays open after a preview of an image. */
  const openPreview = () => {
    const preview = progress("response.image_generation_call.partial_image", {
      partial_image_index: 2,
      partial_image_b64: "aGk=",
    });
    return harness.upstream.openStream(event(begun), event(startedItem("image_generation_call")), event(preview));
  };

  test("an image whose last preview has been read", async () => {
    const body = responses({ stream: true, tools: [{ type: "image_generation", quality: "high", partial_images: 3 }] });
    const script = openPreview();
    const { cost_nano_usd } = await leaveAfter("partial_image_b64", "/v1/responses", body, script);
    expect(cost_nano_usd).toBeGreaterThanOrEqual(250_000_000);
  });

  test("the same if the client's own deadline ends the call", async () => {
    const body = responses({
      stream: true,
      tools: [{ type: "image_generation", quality: "high", partial_images: 3 }],
      trivium: { deadline_ms: 1_000 },
    });
    const script = openPreview();
    const { receipt } = await ask("/v1/responses", body, script);
    expect(receipt?.cost_nano_usd).toBeGreaterThanOrEqual(250_000_000);
  });

  test("a container of 64 GB in which code runs", async () => {
    const tools = [{ type: "code_interpreter", container: { type: "auto", memory_limit: "64g" } }];
    const running = progress("response.code_interpreter_call.interpreting");
    const script = harness.upstream.openStream(
      event(begun),
      event(startedItem("code_interpreter_call")),
      event(running),
    );
    const { cost_nano_usd } = await leaveAfter(
      "interpreting",
      "/v1/responses",
      responses({ stream: true, tools }),
      script,
    );
    expect(cost_nano_usd).toBeGreaterThanOrEqual(1_920_000_000);
  });

  test("a web search that a Responses host has begun", async () => {
    const searching = progress("response.web_search_call.searching");
    const script = harness.upstream.openStream(event(begun), event(startedItem("web_search_call")), event(searching));
    const body = responses({ stream: true, tools: [{ type: "web_search" }] });
    const { cost_nano_usd } = await leaveAfter("searching", "/v1/responses", body, script);
    expect(cost_nano_usd).toBeGreaterThanOrEqual(10_000_000);
  });

  test("a search of generateContent, whose queries come with the last chunk", async () => {
    const first = { candidates: [{ content: { role: "model", parts: [{ text: "According to the web" }] } }] };
    const usageMetadata = { promptTokenCount: 10, totalTokenCount: 10 };
    const script = harness.upstream.openStream(`data: ${JSON.stringify({ ...first, usageMetadata })}\n\n`);
    const path = "/v1/publishers/test/models/genai:streamGenerateContent?alt=sse";
    const body = contents([{ text: "Hi" }], { tools: [{ googleSearch: {} }] });
    const { cost_nano_usd } = await leaveAfter("web", path, body, script);
    expect(cost_nano_usd).toBeGreaterThanOrEqual(35_000_000);
  });
});

describe("tools that a request names outside its tool list are billable too", () => {
  const HOLOGRAM = { type: "hologram" };
  const additional = (tools: readonly object[]) => [
    { type: "additional_tools", role: "developer", tools },
    ...user("Hi"),
  ];

  test.each(["/v1/responses", "/api/v1/responses"])("additional_tools at %s", async (path) => {
    const { given, sent } = await ask(path, responses({ input: additional([HOLOGRAM]) }), plain("responses"));
    expect([given.status, sent]).toEqual([400, 0]);
  });

  test("tools of a tool_search_output", async () => {
    const found = {
      type: "tool_search_output",
      execution: "client",
      call_id: "c",
      status: "completed",
      tools: [HOLOGRAM],
    };
    const body = responses({ tools: [{ type: "tool_search" }], input: [found, ...user("Hi")] });
    const { given, sent } = await ask("/v1/responses", body, plain("responses"));
    expect([given.status, sent]).toEqual([400, 0]);
  });

  test("without a budget, the receipt marks them", async () => {
    const body = responses({ input: additional([HOLOGRAM]) });
    const { receipt } = await ask("/v1/responses", body, plain("responses"), { key: TEST_KEY });
    expect(receipt?.unpriced).toEqual(["hologram"]);
  });

  test("a container's size counts where additional_tools sets it", async () => {
    const tools = [{ type: "code_interpreter", container: { type: "auto", memory_limit: "64g" } }];
    const answer = answerWith([item("code_interpreter_call")]);
    const { receipt } = await ask("/v1/responses", responses({ input: additional(tools) }), answer);
    expect(receipt?.cost_nano_usd).toBeGreaterThanOrEqual(1_920_000_000);
  });

  test("a key with 0.05 USD cannot make ten images of 0.25 USD concurrently", async () => {
    const { upstream, clock } = harness;
    upstream.play(async (reply) => {
      await clock.sleep(500);
      reply.head(200, {});
      void reply.write(
        JSON.stringify(answerWith([item("image_generation_call", { quality: "high", result: "aGk=" })])),
      );
      reply.end();
    });
    const body = responses({
      max_output_tokens: 20,
      input: additional([{ type: "image_generation", quality: "high" }]),
    });
    const calls = Array.from({ length: 10 }, () => harness.sendPost("/v1/responses", body, POOR).answer);
    const statuses = (await clock.until(Promise.all(calls))).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200).length).toBe(0);
  });

  const ADVISOR = { type: "advisor_20260301", name: "advisor", model: "claude-opus-4-8" };
  const addition = { type: "tool_addition", tool: { type: "tool_definition", definition: ADVISOR } };
  const headers = { "anthropic-beta": "inline-tools-2026-09-15" };

  test("a tool_addition within messages", async () => {
    const body = messages({ messages: user([{ type: "text", text: "Hi" }, addition]) });
    const { given, sent } = await ask("/v1/messages", body, plain("messages"), { headers });
    expect([given.status, sent]).toEqual([400, 0]);
  });

  test("a tool_addition among the tool_changes of a compaction", async () => {
    const compaction = { type: "compaction", content: "So far.", tool_changes: [addition] };
    const body = messages({ messages: [{ role: "assistant", content: [compaction] }, ...user("Hi")] });
    const { given, sent } = await ask("/v1/messages", body, plain("messages"), { headers });
    expect([given.status, sent]).toEqual([400, 0]);
  });

  test.each([{ service_tier: "priority" }, { tools: [HOLOGRAM] }])("responses/compact with %j", async (more) => {
    const answer = {
      id: "resp_1",
      object: "response.compaction",
      created_at: 1,
      output: [],
      usage: plainUsage("responses", 10, 5),
    };
    const { given, sent } = await ask("/v1/responses/compact", responses(more), answer);
    expect([given.status, sent]).toEqual([400, 0]);
  });

  // Alibaba Cloud's own fields for tools that it runs.
  test.each(["enable_search", "enable_code_interpreter"])("%s at qwen", async (field) => {
    const body = chat({ model: "test/chat", [field]: true });
    const { given, sent } = await ask("/v1/chat/completions", body, plain("chat"));
    expect([given.status, sent]).toEqual([400, 0]);
    const off = await ask("/v1/chat/completions", { ...body, [field]: false }, plain("chat"));
    expect([off.given.status, off.sent]).toEqual([200, 1]);
  });

  // Groq's own field for tools that it runs.
  test("compound_custom at groq", async () => {
    const body = chat({ model: "test/groq", compound_custom: { tools: { enabled_tools: ["web_search"] } } });
    const { given, sent } = await ask("/v1/chat/completions", body, plain("chat"));
    expect([given.status, sent]).toEqual([400, 0]);
  });
});

describe("terms and variants are billed at their price", () => {
  test.each([
    ["/v1/chat/completions", "chat", chat({ service_tier: "batch" })],
    ["/v1/responses", "responses", responses({ service_tier: "batch" })],
    ["/v1/messages", "messages", messages({ service_tier: "batch", speed: "batch" })],
    [GENAI, "genai", contents([{ text: "Hi" }], { serviceTier: "batch" })],
  ] as const)("the word batch does not lower the price of an ordinary call: %s", async (path, dialect, body) => {
    const { given, receipt } = await ask(path, body, plain(dialect));
    expect(given.status === 400 || receipt?.cost_nano_usd === 20_000).toBe(true);
  });

  // Bedrock reads betas from the body.
  test("the beta for a long context in the body, at a host that reads it there", async () => {
    const body = messages({ model: "test/bedrock", anthropic_beta: ["context-1m-2025-08-07"] });
    const { given } = await ask("/v1/messages", body, plain("messages"));
    const up = harness.upstream.requests.at(-1)?.body ?? "";
    expect(given.status === 400 || !up.includes("context-1m")).toBe(true);
  });

  test("of two container sizes the larger is billed", async () => {
    const size = (memory_limit: string) => ({ type: "code_interpreter", container: { type: "auto", memory_limit } });
    const body = responses({ tools: [size("4g"), size("64g")] });
    const { receipt } = await ask("/v1/responses", body, answerWith([item("code_interpreter_call")]));
    expect(receipt?.cost_nano_usd).toBeGreaterThanOrEqual(1_920_000_000);
  });

  test("a container size without a price is unknown", async () => {
    const tools = [{ type: "code_interpreter", container: { type: "auto", memory_limit: "256g" } }];
    const { given } = await ask("/v1/responses", responses({ tools }), answerWith([item("code_interpreter_call")]));
    expect(given.status).toBe(400);
  });

  // 0.004 USD a result.
  test("a web plugin with a hundred results costs what a hundred results cost", async () => {
    const body = chat({ model: "test/openrouter", plugins: [{ id: "web", max_results: 100 }] });
    const { receipt } = await ask("/v1/chat/completions", body, plain("chat"));
    expect(receipt?.cost_nano_usd).toBeGreaterThanOrEqual(400_000_000);
  });

  // A preset of the provider's account chooses models and tools.
  test("a preset of the provider's account is not forwarded", async () => {
    await ask("/v1/chat/completions", chat({ model: "test/openrouter", preset: "someone-elses" }), plain("chat"));
    expect(harness.upstream.requests.at(-1)?.body ?? "").not.toContain("someone-elses");
  });

  test("what produced something unknown stays blocked under another version of its name", async () => {
    const fetching = (date: string) => messages({ tools: [{ type: `web_fetch_${date}`, name: "web_fetch" }] });
    const usage = { input_tokens: 10, output_tokens: 5, server_tool_use: { hologram_requests: 3 } };
    await ask("/v1/messages", fetching("20250910"), plain("messages", usage));
    expect((await ask("/v1/messages", fetching("20250910"), plain("messages"))).given.status).toBe(400);
    expect((await ask("/v1/messages", fetching("20260209"), plain("messages"))).given.status).toBe(400);
  });

  test("both offers of a hedged call are billed for their searches", async () => {
    const { upstream } = harness;
    const chunk = (value: object) =>
      `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", ...value })}\n\n`;
    upstream.play(
      upstream.openStream(2_950),
      upstream.stream(
        chunk({ choices: [{ index: 0, delta: { role: "assistant", content: "Hello." }, finish_reason: null }] }),
        chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage: plainUsage("chat", 20, 5) }),
        "data: [DONE]\n\n",
      ),
    );
    const body = chat({ model: "test/two", stream: true, web_search_options: {}, trivium: { hedge: true } });
    const given = await harness.clock.until(harness.sendPost("/v1/chat/completions", body, BUDGET).answer);
    expect(upstream.requests.length).toBe(2);
    const receipt = await receiptOf(given.headers.get("x-trivium-receipt") ?? "", BUDGET);
    expect(receipt.usage).toMatchObject({ searches: 2 });
  });

  // Searches for images are listed in imageSearchQueries.
  test("image searches of generateContent are billed", async () => {
    const [candidate] = plain("genai")["candidates"] as [object];
    const groundingMetadata = { imageSearchQueries: ["cats", "dogs"] };
    const answer = { ...plain("genai"), candidates: [{ ...candidate, groundingMetadata }] };
    const body = contents([{ text: "Hi" }], { tools: [{ googleSearch: { searchTypes: { imageSearch: {} } } }] });
    const { receipt } = await ask(GENAI, body, answer);
    expect((receipt?.cost_nano_usd ?? 0) >= 70_000_000 || (receipt?.unpriced ?? []).length > 0).toBe(true);
  });

  test("one request with a hundred unknown tools does not lift the block for other keys", async () => {
    const own = await Harness.start({ config: CONFIG });
    const { upstream, clock } = own;
    const post = (path: string, body: object, key: string) =>
      clock.until(own.sendPost(path, body, key, { "anthropic-version": "2023-06-01" }).answer);
    upstream.play(upstream.json(plain("responses")));
    const tools = Array.from({ length: 100 }, (_, at) => ({ type: `made_up_${at}` }));
    expect((await post("/v1/responses", responses({ tools }), TEST_KEY)).status).toBe(200);
    const usage = { input_tokens: 10, output_tokens: 5, server_tool_use: { hologram_requests: 3 } };
    upstream.play(upstream.json(plain("messages", usage)));
    const fetching = messages({ tools: [{ type: "web_fetch_20250910", name: "web_fetch" }] });
    expect((await post("/v1/messages", fetching, BUDGET)).status).toBe(200);
    expect((await post("/v1/messages", fetching, BUDGET)).status).toBe(400);
  });
});

describe("usage bounds do not make work free", () => {
  test("rounds after failed tool calls count, so their input is billed", async () => {
    const failed = Array.from({ length: 6 }, (_, at) =>
      item("mcp_call", { id: `mcp_${at}`, status: "failed", error: "…" }),
    );
    const tools = [{ type: "mcp", server_label: "x", server_url: "https://attacker.test/mcp" }];
    const answer = answerWith(failed, plainUsage("responses", 900_000, 50));
    const { receipt } = await ask("/v1/responses", responses({ tools }), answer);
    expect(receipt?.cost_nano_usd).toBeGreaterThanOrEqual(900_000_000);
  });

  test("rounds of code execution in generateContent count too", async () => {
    const run = [
      { executableCode: { language: "PYTHON", code: "1" } },
      { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1" } },
    ];
    const usage = {
      promptTokenCount: 150_000,
      toolUsePromptTokenCount: 400_000,
      candidatesTokenCount: 100,
      totalTokenCount: 550_100,
    };
    const parts = [...run, ...run, ...run, ...run, { text: "Done." }];
    const answer = {
      ...plain("genai", usage),
      candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }],
    };
    const { receipt } = await ask(GENAI, contents([{ text: "Hi" }], { tools: [{ codeExecution: {} }] }), answer);
    expect(receipt?.cost_nano_usd).toBeGreaterThanOrEqual(550_000_000);
  });

  test("a container is billed even if the code in it failed", async () => {
    const tools = [{ type: "code_interpreter", container: { type: "auto" } }];
    const answer = answerWith([item("code_interpreter_call", { status: "failed" })]);
    const { receipt } = await ask("/v1/responses", responses({ tools }), answer);
    expect(receipt?.cost_nano_usd).toBeGreaterThanOrEqual(30_000_000);
  });

  test("a failed response with usage is billed by it", async () => {
    const answer = {
      ...plain("responses", plainUsage("responses", 1_000, 50)),
      status: "failed",
      error: { code: "server_error", message: "no" },
      output: [item("image_generation_call", { quality: "high", result: "aGk=" })],
    };
    const { receipt } = await ask("/v1/responses", responses({ tools: [{ type: "image_generation" }] }), answer);
    expect(receipt?.cost_nano_usd).toBeGreaterThanOrEqual(251_000_000);
  });

  const compaction = { type: "compaction", input_tokens: 50_000, output_tokens: 900 };

  test("a later empty list of iterations does not replace the earlier passes", async () => {
    const delta = (iterations: readonly object[]) => ({
      type: "message_delta",
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: { output_tokens: 4, iterations },
    });
    const start = {
      ...plain("messages"),
      content: [],
      stop_reason: null,
      usage: { input_tokens: 10, output_tokens: 1 },
    };
    const script = harness.upstream.stream(
      event({ type: "message_start", message: start } as { type: string }),
      event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } } as { type: string }),
      event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello." } } as {
        type: string;
      }),
      event({ type: "content_block_stop", index: 0 } as { type: string }),
      event(delta([compaction])),
      event(delta([])),
      event({ type: "message_stop" }),
    );
    const { receipt } = await ask("/v1/messages", messages({ stream: true }), script);
    expect(receipt?.cost_nano_usd).toBeGreaterThanOrEqual(51_800_000);
  });

  test.each([
    ["of an impossible size", { type: "compaction", input_tokens: 5e12, output_tokens: 5e12 }],
    ["with only cached tokens", { type: "compaction", cache_read_input_tokens: 100_000 }],
  ])("a pass %s is billed, estimated or marked", async (_name, pass) => {
    const usage = { input_tokens: 10, output_tokens: 5, iterations: [pass] };
    const { receipt } = await ask("/v1/messages", messages({}), plain("messages", usage));
    expect((receipt?.cost_nano_usd ?? 0) > 20_000 || (receipt?.unpriced ?? []).length > 0).toBe(true);
  });

  test("an unknown counter of server_tool_use is marked", async () => {
    const usage = { input_tokens: 10, output_tokens: 5, server_tool_use: { code_execution_seconds: 3_600 } };
    const { receipt } = await ask("/v1/messages", messages({}), plain("messages", usage));
    expect(receipt?.unpriced.length).toBeGreaterThan(0);
  });
});

describe("usage cannot be made smaller than what was used", () => {
  const chunk = (value: object) =>
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", ...value })}\n\n`;
  const delta = (content: object, finish: string | null = null, more: object = {}) =>
    chunk({ choices: [{ index: 0, delta: content, finish_reason: finish }], ...more });
  const CHAT_PATH = "/v1/chat/completions";

  test.each([-1, 2.5, "3", 1e12])("%p as the count of a hosted tool is marked", async (count) => {
    for (const name of ["web_search", "web_fetch", "code_execution"]) {
      const usage = { input_tokens: 10, output_tokens: 5, server_tool_use: { [`${name}_requests`]: count } };
      const { receipt } = await ask("/v1/messages", messages({}), plain("messages", usage), { key: TEST_KEY });
      expect(receipt?.unpriced).toEqual([`usage.server_tool_use.${name}_requests`]);
    }
    const searched = { ...plain("responses"), tool_usage: { web_search: { num_requests: count } } };
    const { receipt } = await ask("/v1/responses", responses({}), searched, { key: TEST_KEY });
    expect(receipt?.unpriced).toEqual(["tool_usage.web_search.num_requests"]);
  });

  test.each(["n_predict", "num_predict", "max_new_tokens", "max_output_tokens", "max_length", "best_of"])(
    "%s sets no other limit than the one that bounds the bill",
    async (name) => {
      const body = chat({ model: "test/compatible", max_completion_tokens: 1, [name]: 8_000 });
      const { receipt } = await ask(CHAT_PATH, body, plain("chat"));
      expect(Object.keys(sentBody())).not.toContain(name);
      expect(receipt?.fields).toMatchObject([{ path: name, action: "dropped" }]);
    },
  );

  test("nor in messages", async () => {
    await ask("/v1/messages", messages({ max_tokens: 1, n_predict: 8_000 }), plain("messages"));
    expect(sentBody()).toEqual(expect.not.objectContaining({ n_predict: 8_000 }));
  });

  test("of two limits the one that is sent bounds the bill", async () => {
    const body = chat({ model: "test/compatible", max_completion_tokens: 1, max_tokens: 8_000 });
    await ask(CHAT_PATH, body, plain("chat"));
    expect(sentBody()).toMatchObject({ max_tokens: 1 });
  });

  test.each([
    { n: 4 },
    { generationConfig: { maxOutputTokens: 1, max_output_tokens: 8_000 } },
    { generationConfig: { maxOutputTokens: 1 }, generation_config: { maxOutputTokens: 8_000 } },
  ])("%j is refused", async (more) => {
    const isChat = "n" in more;
    const { given, sent } = isChat
      ? await ask(CHAT_PATH, chat(more), plain("chat"))
      : await ask(GENAI, contents([{ text: "Hi" }], more), plain("genai"));
    expect([given.status, sent]).toEqual([400, 0]);
  });

  test("several candidates are billed, each up to the limit", async () => {
    const usage = { promptTokenCount: 10, candidatesTokenCount: 200, totalTokenCount: 210 };
    const body = contents([{ text: "Hi" }], { generationConfig: { candidateCount: 4, maxOutputTokens: 50 } });
    const { receipt } = await ask(GENAI, body, plain("genai", usage));
    expect(receipt).toMatchObject({ usage: { output: 200 }, usage_source: "measured" });
  });

  test("a stream without requested usage still reports it to the gateway", async () => {
    const script = harness.upstream.stream(delta({ content: "Hello." }), delta({}, "stop"), "data: [DONE]\n\n");
    const body = chat({ stream: true, stream_options: { include_usage: false } });
    const { given, receipt } = await ask(CHAT_PATH, body, script);
    expect(sentBody()).toMatchObject({ stream_options: { include_usage: true } });
    expect(given.text).not.toContain('"usage":{');
    expect(receipt?.usage_source).toBe("estimated");
    expect(receipt?.cost_nano_usd).toBeGreaterThan(0);
  });

  test.each([{ models: ["dear/model"] }, { fallbacks: [{ model: "dear/model" }] }, { preset: "dear" }])(
    "%j names no other model to the host",
    async (more) => {
      await ask(CHAT_PATH, chat({ model: "test/openrouter", ...more }), plain("chat"));
      expect(JSON.stringify(sentBody())).not.toContain("dear");
    },
  );

  test.each([
    ["batch", "batch-tier"],
    ["scale", "scale"],
    ["priority", "priority"],
  ])("the tier %s that only the response has is marked", async (service_tier, unpriced) => {
    const { receipt } = await ask(CHAT_PATH, chat({}), { ...plain("chat"), service_tier }, { key: TEST_KEY });
    expect(receipt?.unpriced).toEqual([unpriced]);
    expect(receipt?.cost_nano_usd).toBe(20_000);
  });

  test("a requested cheaper tier that was not granted costs the standard price", async () => {
    const answer = { ...plain("chat"), service_tier: "default" };
    expect((await ask(CHAT_PATH, chat({ service_tier: "flex" }), answer)).receipt?.cost_nano_usd).toBe(20_000);
    const silent = await ask(CHAT_PATH, chat({ service_tier: "flex" }), plain("chat"));
    expect(silent.receipt?.cost_nano_usd).toBe(20_000);
  });

  test("batch as a tier is refused", async () => {
    const { given, sent } = await ask(CHAT_PATH, chat({ service_tier: "batch" }), plain("chat"));
    expect([given.status, sent]).toEqual([400, 0]);
  });

  test("cached tokens count towards price tiers", async () => {
    const usage = { ...plainUsage("chat", 250_000, 5), prompt_tokens_details: { cached_tokens: 249_000 } };
    const { receipt } = await ask(CHAT_PATH, chat({ model: "test/steps" }), plain("chat", usage));
    expect(receipt?.cost_nano_usd).toBe(250_000 * 3_000 + 10_000);
  });

  test("H60: the later of two reports counts, and so does its tier; zeros at the end replace nothing", async () => {
    const script = harness.upstream.stream(
      delta({ content: "Hello." }, null, { usage: plainUsage("chat", 250_000, 3) }),
      delta({}, "stop", { usage: plainUsage("chat", 100, 5) }),
      "data: [DONE]\n\n",
    );
    const { receipt } = await ask(CHAT_PATH, chat({ model: "test/steps", stream: true }), script);
    expect(receipt?.cost_nano_usd).toBe(100 * 1_000 + 10_000);
    const zeros = harness.upstream.stream(
      delta({ content: "Hello." }, null, { usage: plainUsage("chat", 250_000, 5) }),
      delta({}, "stop", { usage: plainUsage("chat", 0, 0) }),
      "data: [DONE]\n\n",
    );
    const kept = await ask(CHAT_PATH, chat({ model: "test/steps", stream: true }), zeros);
    expect(kept.receipt?.cost_nano_usd).toBe(250_000 * 3_000 + 10_000);
  });

  test("image tokens of a chat response have their own price", async () => {
    const usage = { ...plainUsage("chat", 10, 1_300), completion_tokens_details: { image_tokens: 1_290 } };
    const { receipt } = await ask(CHAT_PATH, chat({ model: "test/drawn-in-chat" }), plain("chat", usage));
    expect(receipt?.cost_nano_usd).toBe(10 * 1_000 + 10 * 2_000 + 1_290 * 30_000);
  });

  test("a client that disconnects before the usage pays for the audio it received", async () => {
    const sound = (data: string) => delta({ audio: { id: "a", data } });
    const body = chat({
      model: "test/spoken",
      stream: true,
      modalities: ["text", "audio"],
      audio: { voice: "alloy", format: "pcm16" },
    });
    // Ten seconds at 24 kHz and 16 bits.
    const script = harness.upstream.openStream(sound("A".repeat(640_000)), 60_000);
    const receipt = await leaveAfter("AAAA", CHAT_PATH, body, script);
    expect(receipt.usage["audio_output"]).toBe(250);
    expect(receipt.cost_nano_usd).toBeGreaterThanOrEqual(250 * 64_000);
  });

  test.each(["test/drawn", "test/drawn-in-chat"])("an image received from %s is billed as well", async (model) => {
    const data = "iVBORw0KGgo".repeat(20);
    const parts = [{ inlineData: { mimeType: "image/png", data } }];
    const usageMetadata = { promptTokenCount: 10, totalTokenCount: 10 };
    const drawn = { candidates: [{ content: { role: "model", parts }, index: 0 }], usageMetadata };
    const images = [{ type: "image_url", image_url: { url: `data:image/png;base64,${data}` } }];
    const isGenai = model === "test/drawn";
    const first = isGenai ? `data: ${JSON.stringify(drawn)}\r\n\r\n` : delta({ content: "", images });
    const script = harness.upstream.openStream(first, 60_000);
    const body = isGenai
      ? contents([{ text: "Draw." }], { generationConfig: { responseModalities: ["TEXT", "IMAGE"] } })
      : chat({ model, stream: true, modalities: ["text", "image"] });
    const path = isGenai ? "/v1/publishers/test/models/drawn:streamGenerateContent?alt=sse" : CHAT_PATH;
    const receipt = await leaveAfter("iVBOR", path, body, script);
    expect(receipt.usage["image_output"]).toBe(1_290);
    expect(receipt.cost_nano_usd).toBeGreaterThanOrEqual(1_290 * 30_000);
  });
});

describe("objects of others are unreachable", () => {
  test.each([{ result: "" }, { result: "x" }, { status: "failed" }])(
    "an image from an earlier response by its id, with %j",
    async (more) => {
      const input = [
        { type: "image_generation_call", id: "ig_of_another", status: "completed", ...more },
        ...user("Edit it"),
      ];
      const { given, sent } = await ask("/v1/responses", responses({ input }), plain("responses"));
      expect([
        given.status === 400 || !(harness.upstream.requests.at(-1)?.body ?? "").includes("ig_of_another"),
        sent <= 1,
      ]).toEqual([true, true]);
    },
  );

  test.each([
    "https://generativelanguage.googleapis.com/v1beta/%66iles/abc",
    "https://generativelanguage.googleapis.com/v1beta/files%2Fabc",
    "https://generativelanguage.googleapis.com./v1beta/files/abc",
    "https:generativelanguage.googleapis.com/v1beta/files/abc",
    "https://generativelanguage.googleapis.com\\v1beta\\files\\abc",
  ])("a stored file by %s", async (fileUri) => {
    const { given } = await ask(GENAI, contents([{ fileData: { fileUri, mimeType: "image/png" } }]), plain("genai"));
    expect(given.status).toBe(400);
  });
});

describe("honest requests pass", () => {
  // Most models of the catalogue accept a million tokens at one price; coding agents send them the beta anyway.
  test("the beta for a long context, of a model whose standard context is as long", async () => {
    const headers = { "anthropic-beta": "claude-code-20250219,context-1m-2025-08-07" };
    const { given } = await ask("/v1/messages", messages({ model: "test/long" }), plain("messages"), { headers });
    expect(given.status).toBe(200);
  });

  test.each([
    [
      "/v1/messages",
      messages({ model: "test/compatible", tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 8 }] }),
    ],
    [
      "/v1/responses",
      responses({ model: "test/compatible", tools: [{ type: "web_search", external_web_access: false }] }),
    ],
    ["/api/v1/responses", responses({ model: "test/compatible", tools: [{ type: "web_search" }] })],
  ])("a coding agent's web search is dropped at a host without one: %s", async (path, body) => {
    expect((await ask(path, body, plain("chat"))).given.status).toBe(200);
  });

  test("a dropped search is not billed", async () => {
    const body = messages({ model: "test/priced", tools: [{ type: "web_search_20250305", name: "web_search" }] });
    const { receipt } = await ask("/v1/messages", body, plain("chat"));
    expect(receipt?.cost_nano_usd).toBe(20_000);
  });

  test("a dropped search is not marked", async () => {
    const body = messages({ model: "test/compatible", tools: [{ type: "web_search_20250305", name: "web_search" }] });
    const { receipt } = await ask("/v1/messages", body, plain("chat"), { key: TEST_KEY });
    expect(receipt?.unpriced).toEqual([]);
  });

  // The vendor's SDK declares `type?: "custom" | null`.
  test("a tool of the messages API whose type is null is the client's own", async () => {
    const body = messages({ tools: [{ type: null, name: "f", input_schema: { type: "object" } }] });
    expect((await ask("/v1/messages", body, plain("messages"))).given.status).toBe(200);
  });

  // Clients that store nothing at the gateway send back the items that they received.
  test.each([
    ["code_interpreter_call", { code: "1", container_id: "cntr_1", outputs: [] }],
    [
      "shell_call",
      {
        call_id: "c",
        action: { commands: ["ls"] },
        environment: { type: "container_reference", container_id: "cntr_1" },
      },
    ],
  ])("a %s of an earlier response as input", async (type, more) => {
    const body = responses({ input: [...user("Hi"), item(type, more), ...user("Go on")] });
    expect((await ask("/v1/responses", body, plain("responses"))).given.status).toBe(200);
  });

  test.each([
    [
      "/v1/chat/completions",
      chat({
        messages: user([
          { type: "image_url", image_url: { url: "https://storage.googleapis.com/shop/files/cat.png" } },
        ]),
      }),
    ],
    [
      "/v1/messages",
      messages({
        messages: user([
          { type: "image", source: { type: "url", url: "https://storage.googleapis.com/shop/files/cat.png" } },
        ]),
      }),
    ],
  ])("a public image in a folder called files: %s", async (path, body) => {
    const dialect = path.endsWith("messages") ? "messages" : "chat";
    expect((await ask(path, body, plain(dialect))).given.status).toBe(200);
  });

  test("a skill that the vendor gives to everyone", async () => {
    const body = messages({
      container: { skills: [{ type: "anthropic", skill_id: "pptx", version: "latest" }] },
      tools: [{ type: "code_execution_20250825", name: "code_execution" }],
    });
    const headers = { "anthropic-beta": "code-execution-2025-08-25,skills-2025-10-02" };
    expect((await ask("/v1/messages", body, plain("messages"), { headers })).given.status).toBe(200);
  });
});
