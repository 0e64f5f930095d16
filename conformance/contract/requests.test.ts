import { describe, expect, test } from "bun:test";
import type { CallOptions } from "../../testing/build-call.ts";
import { plainAnswer, plainStream, plainUsage } from "../../testing/plain-answer.ts";
import { SCRIPTED_DIALECTS, type ScriptedDialect } from "../../testing/sampled-dialects.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { callGateway, errorOf } from "../support/client-calls.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { sendJson, startEvents } from "../support/scripted-upstream.ts";

/** The key may name a provider's objects: this tests what happens to them. */
const { upstream, gateway } = await scriptedHarness((url) => ({
  config: { ...modelsOfEveryDialect(url), keys: [{ name: "tests", key: TEST_KEY, provider_objects: true }] },
}));

/** A short response in whichever dialect was called, streamed if requested. */
function answer(): void {
  upstream.play(({ path, body }, response) => {
    const dialect = path.includes(":")
      ? "genai"
      : (SCRIPTED_DIALECTS.find((name) => path.includes(`/${name}`)) ?? "chat");
    const usage = plainUsage(dialect, 1, 1);
    if (!path.includes("streamGenerateContent") && JSON.parse(body).stream !== true)
      return void sendJson(response, plainAnswer(dialect, { text: "ok", usage }));
    startEvents(response);
    response.end(plainStream(dialect, ["ok", "!"], usage));
  });
}

const call = (client: ScriptedDialect, target: ScriptedDialect, options: CallOptions) => {
  answer();
  return callGateway(gateway.url, client, gateway.key, { model: `test/${target}`, ...options });
};

const sent = (): Record<string, unknown> => JSON.parse(upstream.seen[0]?.body ?? "{}");

describe("contract 2: null for an optional field means that it is absent", () => {
  const NULLS: Readonly<Record<ScriptedDialect, Record<string, unknown>>> = {
    chat: {
      messages: [{ role: "user", name: null, content: [{ type: "text", text: "hi" }] }],
      tools: null,
      tool_choice: null,
      response_format: null,
      reasoning: null,
      parallel_tool_calls: null,
      stream_options: null,
    },
    messages: {
      messages: [{ role: "user", content: [{ type: "text", text: "hi", citations: null, cache_control: null }] }],
      system: null,
      tools: null,
      tool_choice: null,
      thinking: null,
      temperature: null,
      stop_sequences: null,
    },
    genai: {
      contents: [{ role: null, parts: [{ text: "hi", thought: null, inline_data: null }] }],
      systemInstruction: null,
      tools: null,
      tool_config: null,
      safetySettings: null,
      generationConfig: { temperature: null, stop_sequences: null, thinkingConfig: null, responseSchema: null },
      cachedContent: null,
    },
    responses: {
      input: [{ role: "user", content: [{ type: "input_text", text: "hi" }], status: null }],
      instructions: null,
      tools: null,
      tool_choice: null,
      parallel_tool_calls: null,
      reasoning: null,
      text: null,
      max_output_tokens: null,
      temperature: null,
      include: null,
      previous_response_id: null,
      store: null,
      metadata: null,
      stream_options: null,
    },
  };

  for (const client of SCRIPTED_DIALECTS) {
    for (const target of SCRIPTED_DIALECTS) {
      for (const stream of [false, true]) {
        test(`${client} at ${target}, ${stream ? "streamed" : "whole"}`, async () => {
          const response = await call(client, target, { stream, body: NULLS[client] });
          expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("ok")]);
          expect((await gateway.receipt(response)).fields).toEqual([]);
          if (client !== target) expect(upstream.seen[0]?.body).not.toContain("null");
          const needless = [
            "tools",
            "tool_choice",
            "response_format",
            "system",
            "thinking",
            "systemInstruction",
            "text",
          ];
          for (const name of needless) expect(Object.keys(sent())).not.toContain(name);
        });
      }
    }
  }

  test("a required field must not be null", async () => {
    const response = await call("chat", "chat", { body: { messages: null, tools: null } });
    expect(await errorOf(response)).toMatchObject({
      status: 400,
      message: "messages must be an array of at least 1 item; it is null.",
    });
  });
});

describe("contract 2.6: a single object where a list is expected", () => {
  const single = {
    systemInstruction: { parts: { text: "Be brief." } },
    contents: { role: "user", parts: { text: "hi" } },
    tools: { functionDeclarations: { name: "f", parametersJsonSchema: { type: "object", default: null } } },
    safetySettings: { category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" },
  };

  test("genai at genai: a list of one is sent, the client's own data is unchanged", async () => {
    const response = await call("genai", "genai", { body: single });
    expect(response.status).toBe(200);
    expect(sent()).toEqual({
      systemInstruction: { parts: [{ text: "Be brief." }] },
      contents: [{ role: "user", parts: [{ text: "hi" }] }],
      tools: [{ functionDeclarations: [{ name: "f", parametersJsonSchema: { type: "object", default: null } }] }],
      safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
    });
  });

  test.each(["chat", "messages", "responses"] as const)("genai at %s", async (target) => {
    const response = await call("genai", target, { stream: true, body: single });
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("ok")]);
    expect(upstream.seen[0]?.body).toContain("Be brief.");
    expect(sent()["tools"]).toBeArrayOfSize(1);
  });
});

/** Something of a kind that the contract does not list, its path, and what a host of the protocol receives. */
const UNLISTED: readonly [string, ScriptedDialect, Record<string, unknown>, path: string, trace: string][] = [
  [
    "a part",
    "chat",
    {
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "a" },
            { type: "video_url", video_url: { url: "u" } },
          ],
        },
      ],
    },
    "messages[0].content[1].type",
    "video_url",
  ],
  ["a tool", "chat", { tools: [{ type: "acme:search", depth: 3 }] }, "tools[0].type", "acme:search"],
  [
    "a block",
    "messages",
    {
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "a" },
            { type: "container_upload", file_id: "f" },
          ],
        },
      ],
    },
    "messages[0].content[1].type",
    "container_upload",
  ],
  [
    "a tool",
    "messages",
    { tools: [{ type: "agent_toolset_20260401", name: "agent" }] },
    "tools[0].type",
    "agent_toolset_20260401",
  ],
  [
    "a source",
    "messages",
    { messages: [{ role: "user", content: [{ type: "image", source: { type: "file", file_id: "file_1" } }] }] },
    "messages[0].content[0].source.type",
    "file_1",
  ],
  [
    "a part",
    "genai",
    { contents: [{ role: "user", parts: [{ text: "a" }, { hologram: { data: "x" } }] }] },
    "contents[0].parts[1]",
    "hologram",
  ],
  ["a tool", "genai", { tools: [{ googleMaps: {} }] }, "tools[0].googleMaps", "googleMaps"],
];

describe("choices 3: content kinds and tools that the contract does not list", () => {
  for (const [what, client, body, path, trace] of UNLISTED) {
    for (const stream of [false, true]) {
      test(`${client}: ${what} (${trace}) at the contract door is refused, ${stream ? "streamed" : "whole"}`, async () => {
        for (const target of SCRIPTED_DIALECTS) {
          const { status, message } = await errorOf(await call(client, target, { stream, body }));
          expect([status, message]).toEqual([400, expect.stringContaining(path)]);
          expect(upstream.seen).toHaveLength(0);
        }
      });
    }

    test(`${client}: ${what} (${trace}) at the drop-in door is forwarded natively, and noted in the receipt elsewhere`, async () => {
      for (const target of SCRIPTED_DIALECTS) {
        const response = await call(client, target, { door: "dropin", body });
        expect(response.status).toBe(200);
        const { fields } = await gateway.receipt(response);
        if (target === client) {
          expect(upstream.seen[0]?.body).toContain(trace);
          expect(fields).toEqual([]);
        } else {
          expect(upstream.seen[0]?.body).not.toContain(trace);
          const field = path.replace(/\.(source\.)?type$/, "");
          expect(fields.map((note) => note.path)).toContainEqual(expect.stringContaining(field));
          expect(response.headers.get("x-trivium-dropped")).toContain(field);
        }
      }
    });
  }
});

/**
 * The same in Responses, which the contract does not have: clients send new kinds of tools and items without being
 * asked.
 */
const OWN: readonly [string, Record<string, unknown>, path: string, trace: string][] = [
  ["a tool", { tools: [{ type: "acme_search", depth: 3 }] }, "tools[0]", "acme_search"],
  ["a tool of the vendor's", { tools: [{ type: "tool_search", execution: "client" }] }, "tools[0]", "tool_search"],
  [
    "an item",
    {
      input: [
        { role: "user", content: "a" },
        { type: "acme_note", text: "b" },
      ],
    },
    "input[1]",
    "acme_note",
  ],
  [
    "a part",
    {
      input: [
        {
          role: "user",
          content: [
            { type: "input_text", text: "a" },
            { type: "input_hologram", data: "x" },
          ],
        },
      ],
    },
    "input[0].content[1]",
    "input_hologram",
  ],
];

describe("R5: what only Responses hosts know never fails a call", () => {
  for (const [what, body, path, trace] of OWN) {
    test.each(["contract", "dropin"] as const)(
      `${what} (${trace}) is forwarded natively, and noted in the receipt elsewhere: %s door`,
      async (door) => {
        for (const target of SCRIPTED_DIALECTS) {
          const response = await call("responses", target, { door, body });
          // A host's own tool without a known price cannot be bought there (decision 0083).
          if (target === "responses" && door === "contract" && what === "a tool") {
            expect(await errorOf(response)).toMatchObject({ status: 400, message: expect.stringContaining(path) });
            continue;
          }
          expect([target, response.status, await response.text()]).toEqual([
            target,
            200,
            expect.stringContaining("ok"),
          ]);
          const { fields } = await gateway.receipt(response);
          if (target === "responses") {
            expect(upstream.seen[0]?.body).toContain(trace);
            expect(fields).toEqual([]);
            continue;
          }
          expect(upstream.seen[0]?.body).not.toContain(trace);
          expect(fields).toContainEqual({
            path: expect.stringContaining(path),
            action: "dropped",
            reason: expect.any(String),
          });
          const headers = { "x-trivium-strict": "true" };
          const refused = await errorOf(await call("responses", target, { door, headers, body }));
          expect(refused).toMatchObject({ status: 400, message: expect.stringContaining(path) });
          expect(upstream.seen).toHaveLength(0);
        }
      },
    );
  }
});

describe("contract 2.12: chat", () => {
  test.each(["contract", "dropin"] as const)("stream_options without stream are not forwarded (%s)", async (door) => {
    for (const stream of [false, null]) {
      const body = { stream, stream_options: { include_usage: true } };
      const response = await call("chat", "chat", { door, body });
      expect(response.status).toBe(200);
      expect(sent()).not.toHaveProperty("stream_options");
      expect((await gateway.receipt(response)).fields).toEqual([]);
    }
  });

  test("stream_options with stream are forwarded, including the client's own", async () => {
    const body = { stream_options: { include_usage: false, include_obfuscation: false } };
    const response = await call("chat", "chat", { stream: true, body });
    expect(await response.text()).toContain("[DONE]");
    expect(sent()["stream_options"]).toEqual({ include_usage: true, include_obfuscation: false });
  });

  test.each([...SCRIPTED_DIALECTS])("a response with only reasoning may be sent back: at %s", async (target) => {
    const history = (said: object) => [
      { role: "user", content: "hi" },
      { role: "assistant", content: null, ...said },
      { role: "user", content: "and?" },
    ];
    for (const said of [
      { reasoning: "Hm.", reasoning_content: "Hm." },
      { reasoning_details: [{ type: "reasoning.text", text: "Hm.", index: 0 }] },
    ]) {
      const response = await call("chat", target, { body: { messages: history(said) } });
      expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("ok")]);
    }
    // A host that accepts no reasoning still requires the message to have content.
    if (target === "chat") expect((sent()["messages"] as object[])[1]).toEqual({ role: "assistant", content: "" });
  });
});

describe("contract 2: invalid base64, and counts that are not integers", () => {
  const BAD: readonly [ScriptedDialect, Record<string, unknown>, path: string][] = [
    [
      "genai",
      { contents: [{ parts: [{ inline_data: { mime_type: "image/png", data: "***" } }] }] },
      "contents[0].parts[0].inlineData.data",
    ],
    [
      "messages",
      {
        messages: [
          { role: "user", content: "a" },
          { role: "assistant", content: [{ type: "tool_use", id: "t", name: "f", input: {} }] },
          {
            role: "user",
            content: [
              {
                type: "tool_result",
                tool_use_id: "t",
                content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: "***" } }],
              },
            ],
          },
        ],
      },
      "messages[2].content[0].content[0].source.data",
    ],
    [
      "chat",
      { messages: [{ role: "user", content: [{ type: "input_audio", input_audio: { data: "***", format: "wav" } }] }] },
      "messages[0].content[0].input_audio.data",
    ],
    [
      "responses",
      { input: [{ role: "user", content: [{ type: "input_image", image_url: "data:image/png;base64,***" }] }] },
      "input[0].content[0].image_url",
    ],
    [
      "responses",
      {
        input: [
          {
            role: "user",
            content: [{ type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,***" }],
          },
        ],
      },
      "input[0].content[0].file_data",
    ],
    ["responses", { max_output_tokens: 20.5 }, "max_output_tokens"],
    ["messages", { top_k: 1.5 }, "top_k"],
    ["chat", { top_k: 1.5 }, "top_k"],
    ["genai", { generationConfig: { topK: 1.5 } }, "generationConfig.topK"],
  ];
  for (const [client, body, path] of BAD) {
    test(`${client}: ${path}`, async () => {
      for (const target of SCRIPTED_DIALECTS) {
        for (const door of ["contract", "dropin"] as const) {
          const { status, message } = await errorOf(await call(client, target, { door, body }));
          expect([status, message]).toEqual([400, expect.stringContaining(`${path} must be`)]);
        }
      }
    });
  }
});

describe("contract 2.10: a response begun by the assistant", () => {
  const begun = [
    { role: "user", content: "What is the capital of France?" },
    { role: "assistant", content: "The capital is" },
  ];

  for (const stream of [false, true]) {
    test(`is sent unchanged if the protocol guarantees its continuation, ${stream ? "streamed" : "whole"}`, async () => {
      const response = await call("messages", "messages", { stream, body: { messages: begun } });
      expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("ok")]);
      expect(sent()["messages"]).toEqual(begun);
      expect((await gateway.receipt(response)).fields).toEqual([]);
    });

    test.each(["chat", "genai", "responses"] as const)(
      `H09: is requested in words, and noted, at a host that does not continue it: %s, ${stream ? "streamed" : "whole"}`,
      async (target) => {
        const response = await call("messages", target, { stream, body: { messages: begun } });
        expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("ok")]);
        const turns = (sent()["messages"] ?? sent()["contents"] ?? sent()["input"]) as { role: string }[];
        expect(turns.map(({ role }) => role)).toEqual(["user", target === "genai" ? "model" : "assistant", "user"]);
        expect(JSON.stringify(turns.at(-1))).toContain("Go on exactly where your last message breaks off");
        const { fields } = await gateway.receipt(response);
        expect(fields).toContainEqual({ path: "messages[1]", action: "approximated", reason: expect.any(String) });

        const headers = { "x-trivium-strict": "true" };
        const refused = await errorOf(await call("messages", target, { stream, headers, body: { messages: begun } }));
        expect(refused).toMatchObject({ status: 400, message: expect.stringContaining("messages[1]") });
      },
    );
  }
});

test("contract 2.10, H09: a cache mark on the web search is not lost silently", async () => {
  const tools = [{ type: "web_search_20250305", name: "web_search", cache_control: { type: "ephemeral" } }];
  // Responses hosts cache automatically, tools too: only a requested lifetime is lost there.
  const LOST = { chat: ["tools[0]"], genai: ["tools[0].cache_control"], responses: [] };
  const timed = [{ ...tools[0], cache_control: { type: "ephemeral", ttl: "1h" } }];
  const noted = await gateway.receipt(await call("messages", "responses", { body: { tools: timed } }));
  expect(noted.fields.map(({ path }) => path)).toEqual(["tools[0].cache_control"]);
  for (const target of SCRIPTED_DIALECTS) {
    const response = await call("messages", target, { body: { tools } });
    expect(response.status).toBe(200);
    const { fields } = await gateway.receipt(response);
    if (target === "messages") expect([fields, sent()["tools"]]).toEqual([[], tools]);
    // A host without a search loses the whole tool.
    else expect(fields.map(({ path }) => path)).toEqual(LOST[target]);
  }
});
