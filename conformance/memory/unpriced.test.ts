import { afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { DialectName } from "../../src/canon/dialect-name.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { errorIn } from "../../testing/sent-call.ts";
import { TEST_KEY } from "../../testing/test-key.ts";

const KEYS = {
  budget: { limits: { budget_usd_total: 10 } },
  poor: { limits: { budget_usd_total: 0.05 } },
  "budget-mark": { limits: { budget_usd_total: 10 }, billing: { unpriced: "mark" } },
  refuse: { billing: { unpriced: "refuse" } },
  blocked: { limits: { budget_usd_total: 10 } },
} as const;
const keyOf = (name: keyof typeof KEYS) => `a-key-of-the-configuration-${name}`;

let harness: Harness;
beforeAll(async () => {
  const config = modelsOfEveryDialect(UPSTREAM_URL) as { models: { id: string; offers: object[] }[] };
  const [chat] = config.models;
  harness = await Harness.start({
    config: {
      ...config,
      keys: [
        // A file search names a store in the provider's account.
        { name: "tests", key: TEST_KEY, provider_objects: true },
        ...Object.entries(KEYS).map(([name, key]) => ({ name, key: keyOf(name as keyof typeof KEYS), ...key })),
      ],
      models: [
        ...config.models,
        {
          ...chat,
          id: "test/priced",
          tools: [
            { name: "programmatic_tool_calling", unit: "call", usd: 0.5, source: "a contract", date: "2026-11-18" },
          ],
          offers: [
            {
              provider: "up-chat",
              model: "upstream-model",
              dialect: "responses",
              tools: [{ name: "web_search", unit: "1k_calls", usd: 100 }],
            },
          ],
        },
      ],
    },
  });
});

const NOTHING_LEFT = { runningCalls: 0, orphanedTexts: 0, orphanedImages: 0, heldBytes: 0, openUpstreams: 0 };
afterEach(() => expect(harness.leftovers()).toEqual(NOTHING_LEFT));

const TOKENS = 10 * 1_000 + 7 * 2_000;
const USAGE = { input_tokens: 10, output_tokens: 7, total_tokens: 17 };
const message = {
  type: "message",
  id: "msg_1",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "hi", annotations: [] }],
};
const response = (output: readonly object[], more: object = {}) => ({
  id: "resp_1",
  object: "response",
  created_at: 1,
  status: "completed",
  model: "upstream-model",
  output: [...output, message],
  usage: USAGE,
  ...more,
});

const item = (type: string, more: object = {}) => ({ type, id: `${type}_1`, status: "completed", ...more });

/** The events of the same response. */
const events = (answer: ReturnType<typeof response>): string =>
  [
    { type: "response.created", response: { ...answer, status: "in_progress", output: [], usage: null } },
    ...answer.output.flatMap((done, output_index) => [
      { type: "response.output_item.added", output_index, item: done },
      { type: "response.output_item.done", output_index, item: done },
    ]),
    { type: "response.completed", response: answer },
  ]
    .map((event, sequence_number) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`)
    .join("");

const asked = async (dialect: DialectName, answer: object, options: Parameters<Harness["call"]>[1] = {}) => {
  const { upstream } = harness;
  upstream.play(
    options.stream && dialect === "responses"
      ? upstream.stream(events(answer as ReturnType<typeof response>))
      : upstream.json(answer),
  );
  const given = await harness.call(dialect, { door: "dropin", ...options });
  expect(given.status).toBe(200);
  return harness.receipt(given);
};

const refused = async (dialect: DialectName, options: Parameters<Harness["call"]>[1]) => {
  const before = harness.upstream.requests.length;
  const given = await harness.call(dialect, options);
  expect(harness.upstream.requests.length).toBe(before);
  return { status: given.status, ...errorIn(given) };
};

describe("decision 0083: what a host does besides generating tokens is billed", () => {
  const tools = [{ type: "web_search" }, { type: "image_generation", quality: "low" }];
  const output = [
    item("web_search_call"),
    item("web_search_call"),
    item("image_generation_call", { quality: "low", result: "aGk=" }),
    item("image_generation_call", { quality: "high", result: "aGk=" }),
    item("image_generation_call", { status: "failed", result: null }),
  ];

  test.each([false, true])("searches and images of a Responses host, streamed: %p", async (stream) => {
    const receipt = await asked("responses", response(output), { stream, body: { tools }, key: keyOf("budget") });
    expect(receipt).toMatchObject({
      lane: "native",
      usage: { searches: 2, tools: { "image_generation:low": 1, "image_generation:high": 1 } },
      price_rule:
        "prompt 1 + completion 2 USD/MTok + web_search 0.01 USD each, image_generation:low 0.016 USD/image, image_generation:high 0.25 USD/image",
      cost_nano_usd: TOKENS + 2 * 10_000_000 + 16_000_000 + 250_000_000,
      unpriced: [],
    });
  });

  test("images that are larger than usual cost more", async () => {
    const large = item("image_generation_call", { quality: "high", size: "3840x2160", result: "aGk=" });
    const body = { tools: [{ type: "image_generation", quality: "high", size: "3840x2160" }] };
    const receipt = await asked("responses", response([large]), { body, key: keyOf("budget") });
    expect(receipt).toMatchObject({
      usage: { tools: { "image_generation:high:large": 1 } },
      cost_nano_usd: TOKENS + 720_000_000,
      unpriced: [],
    });
  });

  test.each(["chat", "responses"] as const)("%s: the moderation of a request is free", async (dialect) => {
    const chat = {
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1,
      model: "upstream-model",
      choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 10, completion_tokens: 7, total_tokens: 17 },
    };
    const answer = dialect === "chat" ? chat : response([]);
    const moderation = (model: string) =>
      ({ body: { moderation: { model } }, door: "dropin", key: keyOf("budget") }) as const;
    const receipt = await asked(dialect, answer, moderation("omni-moderation-latest"));
    expect(receipt).toMatchObject({ cost_nano_usd: TOKENS, unpriced: [] });
    expect(await refused(dialect, moderation("gpt-6.1-sol"))).toMatchObject({
      status: 400,
      message: expect.stringContaining("moderation_by_model"),
    });
  });

  test("file searches by the call, containers by the session and by size", async () => {
    const receipt = await asked(
      "responses",
      response([
        item("file_search_call"),
        item("file_search_call"),
        item("code_interpreter_call"),
        item("code_interpreter_call"),
      ]),
      {
        body: {
          tools: [
            { type: "file_search", vector_store_ids: ["vs_1"] },
            { type: "code_interpreter", container: { type: "auto", memory_limit: "4g" } },
          ],
        },
      },
    );
    expect(receipt).toMatchObject({
      usage: { tools: { file_search: 2, "code_interpreter:4g": 2 } },
      cost_nano_usd: TOKENS + 2 * 2_500_000 + 120_000_000,
      unpriced: [],
    });
  });

  test("the client's own tools are neither counted nor refused", async () => {
    const body = {
      tools: [{ type: "function", name: "f", parameters: {} }, { type: "apply_patch" }, { type: "computer" }],
    };
    const output = [item("apply_patch_call"), item("computer_call")];
    const receipt = await asked("responses", response(output), { body, key: keyOf("budget"), door: "contract" });
    expect(receipt).toMatchObject({ usage: { tools: null }, cost_nano_usd: TOKENS, unpriced: [] });
  });

  test("configured prices replace those of the tables, an offer's before its model's", async () => {
    const output = [item("web_search_call"), item("program")];
    const body = { tools: [{ type: "web_search" }, { type: "programmatic_tool_calling" }] };
    const receipt = await asked("responses", response(output), { model: "test/priced", body, key: keyOf("budget") });
    expect(receipt).toMatchObject({ cost_nano_usd: TOKENS + 100_000_000 + 500_000_000, unpriced: [] });
  });
});

describe("decision 0083: what has no known price is refused where money is limited and at the strict base URLs", () => {
  const body = { tools: [{ type: "web_search" }, { type: "hologram" }] };

  test("H41: a tool, with its path, its name and the setting that prices it", async () => {
    const error = await refused("responses", { door: "dropin", key: keyOf("budget"), body });
    expect(error).toMatchObject({ status: 400, type: "invalid_request_error" });
    for (const part of ["tools[1].type", "hologram", "up-chat", "tools: [{ name: hologram, unit: call, usd: … }]"]) {
      expect(error.message).toContain(part);
    }
  });

  test("at the strict base URL, and if a key says so, without any budget", async () => {
    expect(await refused("responses", { door: "contract", body })).toMatchObject({ status: 400 });
    expect(await refused("responses", { door: "dropin", key: keyOf("refuse"), body })).toMatchObject({ status: 400 });
  });

  test("elsewhere it passes, and the receipt names it", async () => {
    for (const key of [TEST_KEY, keyOf("budget-mark")]) {
      const receipt = await asked("responses", response([item("hologram_call")]), { body, key });
      expect(receipt).toMatchObject({
        usage: { tools: { hologram: 1 } },
        cost_nano_usd: TOKENS,
        unpriced: ["hologram"],
        price_rule: "prompt 1 + completion 2 USD/MTok, hologram unpriced",
      });
    }
  });

  test.each([
    ["responses", { service_tier: "ultrafast" }, "service_tier"],
    ["chat", { service_tier: "ultrafast" }, "service_tier"],
    ["messages", { speed: "fast" }, "speed"],
    ["genai", { serviceTier: "deferred" }, "serviceTier"],
    ["responses", { prompt_cache_options: { ttl: "12h" } }, "prompt_cache_options.ttl"],
  ] as const)("H34: %s %o", async (dialect, fields, path) => {
    const error = await refused(dialect, { door: "dropin", key: keyOf("budget"), body: fields });
    expect(error).toMatchObject({ status: 400 });
    expect(error.message).toContain(path);
    expect(error.message).toContain("price_multiples");
  });

  test("H34: a tier that only the response names is marked", async () => {
    const receipt = await asked("responses", response([], { service_tier: "ultrafast" }), { key: keyOf("budget") });
    expect(receipt).toMatchObject({ cost_nano_usd: TOKENS, unpriced: ["ultrafast"] });
  });

  test("effort is not a term: an unknown one passes", async () => {
    const receipt = await asked("responses", response([]), {
      key: keyOf("budget"),
      body: { reasoning: { effort: "max" } },
    });
    expect(receipt).toMatchObject({ unpriced: [] });
  });
});

test("a tool that a response used without a known price is refused the next time, until it has one", async () => {
  const body = { tools: [{ type: "web_search" }] };
  const key = keyOf("blocked");
  const first = await asked("responses", response([item("web_search_call"), item("teleport_call")]), { key, body });
  expect(first).toMatchObject({ unpriced: ["teleport"] });
  const error = await refused("responses", { door: "dropin", key, body });
  expect(error).toMatchObject({ status: 400 });
  for (const part of ["tools[0].type", "teleport"]) expect(error.message).toContain(part);
  // Other keys, and other requests of the same key, are not affected.
  await asked("responses", response([]), { key });
  await asked("responses", response([item("web_search_call")]), { key: keyOf("budget"), body });
});

describe("a reservation includes what tools may cost", () => {
  test("a key with five cents gets no images of twenty-five", async () => {
    const body = { tools: [{ type: "image_generation" }] };
    expect(await refused("responses", { door: "dropin", key: keyOf("poor"), body })).toMatchObject({ status: 402 });
  });

  test("the request's own limit counts", async () => {
    const search = { tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 6 }] };
    const given = await refused("messages", { door: "dropin", key: keyOf("poor"), body: search });
    expect(given).toMatchObject({ status: 402 });
  });
});

describe("other protocols", () => {
  const said = { id: "msg_1", type: "message", role: "assistant", model: "m", stop_reason: "end_turn" };

  test("code execution is billed by the session, web fetches are free", async () => {
    const content = [
      { type: "server_tool_use", id: "srvtoolu_1", name: "bash_code_execution", input: {} },
      { type: "server_tool_use", id: "srvtoolu_2", name: "bash_code_execution", input: {} },
      { type: "text", text: "hi" },
    ];
    const usage = {
      input_tokens: 10,
      output_tokens: 7,
      server_tool_use: { web_search_requests: 1, web_fetch_requests: 3 },
    };
    const tools = [{ type: "code_execution_20260521", name: "code_execution" }];
    const receipt = await asked("messages", { ...said, content, usage }, { key: keyOf("budget"), body: { tools } });
    expect(receipt).toMatchObject({
      usage: { searches: 1, tools: { code_execution: 2, web_fetch: 3 } },
      cost_nano_usd: TOKENS + 10_000_000 + 50_000_000,
      unpriced: [],
    });
  });

  test("grounding with maps is billed once per response", async () => {
    const groundingMetadata = { groundingChunks: [{ maps: { uri: "u" } }, { maps: { uri: "v" } }] };
    const answer = {
      candidates: [{ content: { role: "model", parts: [{ text: "hi" }] }, finishReason: "STOP", groundingMetadata }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 7, totalTokenCount: 17 },
    };
    const body = { tools: [{ googleMaps: {} }] };
    const receipt = await asked("genai", answer, { key: keyOf("budget"), body });
    expect(receipt).toMatchObject({ usage: { tools: { googleMaps: 1 } }, cost_nano_usd: TOKENS + 25_000_000 });
  });

  test("a chat completion with web_search_options has searched once, as far as its response shows", async () => {
    const answer = {
      id: "c",
      object: "chat.completion",
      created: 1,
      model: "m",
      choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 10, completion_tokens: 7, total_tokens: 17 },
    };
    const receipt = await asked("chat", answer, { key: keyOf("budget"), body: { web_search_options: {} } });
    expect(receipt).toMatchObject({ usage: { searches: 1 }, cost_nano_usd: TOKENS + 10_000_000 });
    const sources = { ...answer, usage: { ...answer.usage, num_sources_used: 4 } };
    expect(await asked("chat", sources)).toMatchObject({
      usage: { tools: { live_search: 4 } },
      unpriced: ["live_search"],
    });
  });
});
