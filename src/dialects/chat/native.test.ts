import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../base/json.ts";
import { encodeContext } from "./contexts.sample.ts";
import { patchAnswer, prepareRequest } from "./native.ts";
import { type ChatQuirks, DEFAULT_CHAT_QUIRKS } from "./quirks.ts";

const user = { role: "user", content: "hi" };

const answerContext = (request?: JsonObject) => ({ ...encodeContext(request), quirks: DEFAULT_CHAT_QUIRKS });

/** The request as sent in its own dialect, without the fields that all of these share. */
function prepare(fields: JsonObject, quirks: Partial<ChatQuirks> = {}): [JsonObject, ...string[]] {
  const body: JsonObject = { model: "acme/model", messages: [user], ...fields };
  const { payload, notes } = prepareRequest(
    { body, text: JSON.stringify(body) },
    {
      upstreamModel: "m",
      stream: false,
      door: "dropin",
      maxOutputTokens: undefined,
      reasons: true,
      knownEfforts: undefined,
      quirks: { ...DEFAULT_CHAT_QUIRKS, ...quirks },
    },
  );
  const { model, messages, ...rest } = JSON.parse(String(payload)) as JsonObject;
  expect(model).toBe("m");
  return ["messages" in fields ? { messages, ...rest } : rest, ...notes.map(({ path, action }) => `${action} ${path}`)];
}

describe("contract 2.12: reasoning reaches every host in its own fields", () => {
  test.each<[string, JsonObject, Partial<ChatQuirks>, [JsonObject, ...string[]]]>([
    ["effort", { reasoning: { effort: "high" } }, {}, [{ reasoning_effort: "high" }]],
    [
      "budget",
      { reasoning: { max_tokens: 9000 } },
      {},
      [{ reasoning_effort: "medium" }, "approximated reasoning.max_tokens"],
    ],
    ["on", { reasoning: { enabled: true } }, {}, [{ reasoning_effort: "medium" }, "approximated reasoning.enabled"]],
    ["off", { reasoning: { enabled: false } }, {}, [{ reasoning_effort: "none" }]],
    ["the client's own value stays", { reasoning_effort: "minimal" }, {}, [{ reasoning_effort: "minimal" }]],
    [
      "the host's value",
      { reasoning_effort: "max" },
      { effortWords: { max: "xhigh" } },
      [{ reasoning_effort: "xhigh" }],
    ],
    [
      "thinking",
      { reasoning_effort: "high" },
      { reasoningField: "thinking" },
      [{ thinking: { type: "enabled" } }, "approximated reasoning_effort"],
    ],
    [
      "thinking with a budget",
      { reasoning: { max_tokens: 2000 } },
      { reasoningField: "thinking", thinkingBudget: true },
      [{ thinking: { type: "enabled", budget_tokens: 2000 } }],
    ],
    [
      "thinking off",
      { reasoning_effort: "none" },
      { reasoningField: "thinking" },
      [{ thinking: { type: "disabled" } }],
    ],
    [
      "the client's own thinking",
      { thinking: { type: "enabled" }, reasoning_effort: "low" },
      { reasoningField: "thinking" },
      [{ thinking: { type: "enabled" } }, "dropped reasoning_effort"],
    ],
    [
      "enable_thinking",
      { reasoning: { effort: "low" } },
      { reasoningField: "enable_thinking" },
      [{ enable_thinking: true, thinking_budget: 2048 }],
    ],
    ["nothing", { reasoning_effort: "low" }, { reasoningField: "none" }, [{}, "dropped reasoning_effort"]],
    ["hidden by the gateway", { reasoning: { exclude: true } }, {}, [{}]],
    [
      "unchanged",
      { reasoning: { effort: "low", exclude: true } },
      { reasoningField: "reasoning" },
      [{ reasoning: { effort: "low", exclude: true } }],
    ],
  ])("%s", (_name, fields, quirks, expected) => {
    expect(prepare(fields, quirks)).toEqual(expected);
  });
});

describe("reasoning in the history", () => {
  const messages = [
    user,
    { role: "assistant", content: "a", reasoning: "hm" },
    user,
    { role: "assistant", content: "b" },
  ];

  test("is dropped and noted, kept, or required in every message, depending on the host", () => {
    const [dropped, ...notes] = prepare({ messages });
    expect(JSON.stringify(dropped)).not.toContain("hm");
    expect(notes).toEqual(["dropped messages[1].reasoning"]);
    const named = { reasoningHistoryField: "reasoning" } as const;
    expect(prepare({ messages }, { reasoningHistory: "keep", ...named })).toEqual([{ messages }]);
    const [kept] = prepare({ messages }, { reasoningHistory: "keep" });
    expect(kept["messages"]).toMatchObject([{}, { reasoning: "hm", reasoning_content: "hm" }, {}, {}]);
    for (const reasoningPlaceholder of ["", " "]) {
      const [required] = prepare({ messages }, { reasoningHistory: "required", reasoningPlaceholder });
      const history = [{}, { reasoning_content: "hm" }, {}, { reasoning_content: reasoningPlaceholder }];
      expect(required["messages"]).toMatchObject(history);
    }
  });
});

describe("H09: settings and ids that a host rejects", () => {
  test("settings are left out, renamed or adjusted, and noted", () => {
    const quirks = {
      unsupported: ["logprobs", "topK"],
      seedField: "random_seed",
      temperature: { min: 0, max: 1 },
      topP: { min: 0, max: 1 },
      anyToolWord: "any",
      outputFormats: ["json"],
    } as const;
    const fields = {
      logprobs: true,
      top_logprobs: 2,
      seed: 1,
      temperature: 0,
      top_p: 1,
      tool_choice: "required",
      top_k: 4,
      response_format: { type: "json_schema", json_schema: { name: "a" } },
    };
    expect(prepare(fields, quirks)).toEqual([
      {
        random_seed: 1,
        temperature: 0.01,
        top_p: 0.99,
        tool_choice: "any",
        top_k: 4,
        response_format: { type: "json_object" },
      },
      "dropped logprobs",
      "dropped top_logprobs",
      "approximated temperature",
      "approximated top_p",
      "approximated response_format",
    ]);
    expect(prepare({ tool_choice: "required" }, { anyToolWord: undefined })).toEqual([
      { tool_choice: "auto" },
      "approximated tool_choice",
    ]);
  });

  test("ids of tool calls are adapted to the host, the same on a call and its result", () => {
    const messages = [
      user,
      {
        role: "assistant",
        tool_calls: [{ id: "call_123456", type: "function", function: { name: "f", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "call_123456", content: "1" },
    ];
    const toolId = { pattern: /^[a-z0-9]{9}$/, make: (seed: string) => seed.slice(0, 9) };
    const [body] = prepare({ messages }, { toolId });
    const [, assistant, tool] = body["messages"] as [
      unknown,
      { tool_calls: [{ id: string }] },
      { tool_call_id: string },
    ];
    expect(tool.tool_call_id).toMatch(toolId.pattern);
    expect(assistant.tool_calls[0].id).toBe(tool.tool_call_id);
  });

  test("a request that needs no change keeps its bytes", () => {
    const text = '{"model":"a/b",  "messages": [{"role":"user","content":"hi"}], "temperature": 1.0}';
    const context = {
      upstreamModel: "m",
      stream: false,
      door: "contract",
      maxOutputTokens: 5,
      reasons: true,
      knownEfforts: undefined,
      quirks: DEFAULT_CHAT_QUIRKS,
    } as const;
    const { payload } = prepareRequest({ text, body: JSON.parse(text) as JsonObject }, context);
    expect(String(payload)).toBe(text.replace("a/b", "m"));
  });
});

describe("contract 2.13: reasoning is returned under both names, wherever the host put it", () => {
  const patched = (message: JsonObject, request: JsonObject = {}) => {
    const body = { id: "a", choices: [{ index: 0, message, finish_reason: "stop" }] };
    return JSON.parse(patchAnswer(JSON.stringify(body), body, answerContext(request)).text).choices[0].message;
  };
  const both = { reasoning: "hm", reasoning_content: "hm" };
  const parts = [
    { type: "thinking", thinking: [{ type: "text", text: "hm" }] },
    { type: "text", text: "said" },
  ];

  test.each<[string, JsonObject, JsonObject]>([
    ["one of them", { content: "said", reasoning: "hm" }, { content: "said", ...both }],
    ["parts of the content", { content: parts }, { content: "said", ...both }],
    ["content in pieces", { content: [{ type: "text", text: "said" }] }, { content: "said" }],
    ["parts of another kind", { content: [{ type: "reference" }] }, { content: [{ type: "reference" }] }],
    ["both already", { content: "said", ...both }, { content: "said", ...both }],
  ])("%s", (_name, message, expected) => {
    expect(patched(message)).toEqual(expected);
  });

  test("is returned from details only", () => {
    const reasoning_details = [{ type: "reasoning.text", text: "hm", index: 0 }];
    expect(patched({ content: "said", reasoning_details })).toEqual({ content: "said", reasoning_details, ...both });
  });

  test("is hidden if the client requests that", () => {
    const request = { reasoning: { exclude: true } };
    expect(patched({ content: parts, ...both }, request)).toEqual({ content: "said" });
  });

  test("H16: an error under a success status is an error", () => {
    const body = { choices: null, base_resp: { status_code: 1002, status_msg: "slow down" } };
    expect(() => patchAnswer(JSON.stringify(body), body, answerContext())).toThrow("slow down");
  });
});
