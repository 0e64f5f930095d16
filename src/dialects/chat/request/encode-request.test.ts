import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../base/json.ts";
import type { CanonCall, Turn } from "../../../canon/call.ts";
import type { Part } from "../../../canon/part.ts";
import type { ReasoningAmount } from "../../../canon/reasoning.ts";
import type { Tool } from "../../../canon/tool.ts";
import type { ModelTraits } from "../../../canon/traits.ts";
import { FIELD_NAMES } from "../../messages/request/field-names.ts";
import { CONTINUE_PROMPT } from "../../request/continue-prompt.ts";
import { chatCodec } from "../codec.ts";
import { requestContext } from "../contexts.sample.ts";
import type { ChatQuirks } from "../quirks.ts";

const user: Turn = {
  role: "user",
  parts: [{ type: "text", text: "hi", path: "messages[0].content" }],
  path: "messages[0]",
};

/** A call from a messages client. */
const callOf = (fields: Partial<CanonCall> = {}): CanonCall => ({
  dialect: "messages",
  fieldNames: FIELD_NAMES,
  system: [],
  turns: [user],
  tools: [],
  paths: {},
  extras: [],
  ...fields,
});

interface Outcome {
  body: Record<string, unknown>;
  messages: JsonObject[];
  notes: string[];
  reading: object;
}

function encode(
  fields: Partial<CanonCall>,
  quirks: Partial<ChatQuirks> = {},
  traits: Partial<ModelTraits> = {},
): Outcome {
  const call = callOf(fields);
  const before = JSON.stringify(call);
  const { body, notes, reading } = chatCodec.encodeRequest(call, requestContext(quirks, traits));
  expect(JSON.stringify(call)).toBe(before);
  const { messages, model: _model, ...rest } = body as { messages: JsonObject[]; model: string };
  return { body: rest, messages, notes: notes.map(({ path, action }) => `${action} ${path}`), reading };
}

const turn = (role: Turn["role"], ...parts: Part[]): Turn => ({ role, parts, path: `messages[${role}]` });
const toolCall = (id: string, signature?: Part["signature"]): Part => ({
  type: "tool-call",
  id,
  name: "f",
  input: "",
  path: `call.${id}`,
  ...(signature ? { signature } : {}),
});
const fn = (name: string): Tool => ({ type: "function", name, path: `tools.${name}`, schema: { type: "object" } });

describe("mapping 5: tool results", () => {
  const image: Part & { type: "media" } = {
    type: "media",
    kind: "image",
    source: { type: "data", mimeType: "image/png", data: "aGk=" },
    path: "image",
  };
  const turns = [
    user,
    turn("assistant", toolCall("a"), toolCall("b")),
    turn(
      "user",
      { type: "text", text: "and now?" },
      { type: "tool-result", callId: "b", content: [{ type: "text", text: "no" }], isError: true, path: "result.b" },
      { type: "tool-result", callId: "a", content: [image], path: "result.a" },
    ),
  ];

  test("contract 2.6: an answer kept as several turns becomes one message, followed by the results", () => {
    const chunks = [
      turn("assistant", { type: "text", text: "Let me " }),
      turn("assistant", { type: "text", text: "see." }),
    ];
    const spread = [...chunks, turn("assistant", toolCall("a")), turn("assistant", { type: "text", text: "" })];
    const result: Part = {
      type: "tool-result",
      callId: "a",
      content: [{ type: "text", text: "no" }],
      path: "result.a",
    };
    const { messages } = encode({ dialect: "genai", turns: [user, ...spread, turn("user", result)] });
    expect(messages).toMatchObject([
      { role: "user" },
      { role: "assistant", content: "Let me see.", tool_calls: [{ id: "a" }] },
      { role: "tool", tool_call_id: "a" },
    ]);
    expect(encode({ dialect: "chat", turns: [user, ...chunks] }).messages).toHaveLength(3);
  });

  test("results follow their calls in order, and media and text come after them", () => {
    const { messages, notes } = encode({ turns });
    expect(messages.slice(1)).toEqual([
      {
        role: "assistant",
        content: null,
        tool_calls: ["a", "b"].map((id) => ({ id, type: "function", function: { name: "f", arguments: "{}" } })),
      },
      { role: "tool", tool_call_id: "a", content: "The result is in the next message." },
      { role: "tool", tool_call_id: "b", content: "Error: no" },
      {
        role: "user",
        content: [
          { type: "text", text: "Result of the tool call a:" },
          { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } },
          { type: "text", text: "and now?" },
        ],
      },
    ]);
    expect(notes).toEqual(["approximated result.a", "approximated result.b.is_error"]);
  });

  test("images stay in the tool role if the host accepts them there", () => {
    const { messages, notes } = encode({ turns }, { mediaInToolRole: true });
    expect(messages[2]).toMatchObject({ role: "tool", content: [{ type: "image_url" }] });
    expect(notes).not.toContain("approximated result.a");
  });

  test("ids are adapted, the same on a call and its result", () => {
    const toolId = { pattern: /^[a-z0-9]{9}$/, make: (seed: string) => seed.slice(0, 9) };
    const { messages } = encode({ turns }, { toolId });
    const calls = messages[1]?.["tool_calls"] as { id: string }[];
    expect(calls.map(({ id }) => id)).toEqual(messages.slice(2, 4).map((message) => String(message["tool_call_id"])));
    for (const { id } of calls) expect(id).toMatch(toolId.pattern);
  });
});

describe("mapping 3: opaque values (H01, H02)", () => {
  const own = { origin: "host", kind: "signature", value: "s" } as const;
  const foreign = { origin: "messages", kind: "signature", value: "s" } as const;
  const history = (signature: Part["signature"]) => [
    user,
    turn(
      "assistant",
      { type: "reasoning", text: "hm", path: "think", ...(signature ? { signature } : {}) },
      { type: "text", text: "said", path: "text", ...(signature ? { signature } : {}) },
      toolCall("a", signature),
    ),
  ];

  test("return to their origin in the host's own form", () => {
    const { messages, notes } = encode({ turns: history({ ...own, format: "v1#rs_1" }) }, { reasoningDetails: true });
    expect(messages[1]).toMatchObject({
      reasoning_content: "hm",
      reasoning_details: [
        { type: "reasoning.text", text: "hm", signature: "s", format: "v1", id: "rs_1", index: 0 },
        { type: "reasoning.encrypted", data: "s", format: "v1", id: "content", index: 1 },
        { type: "reasoning.encrypted", data: "s", format: "v1", id: "a", index: 2 },
      ],
    });
    expect(notes).toEqual([]);
  });

  test("are inside the call if the host expects them there", () => {
    const { messages } = encode({ turns: history(own) }, { toolSignatureKeys: ["extra", "sig"] });
    expect(messages[1]).toMatchObject({ tool_calls: [{ id: "a", extra: { sig: "s" } }] });
  });

  test.each([
    ["keep", true],
    ["drop", true],
    ["required", false],
  ] as const)(
    "of another origin are left out and noted: history %s, details %p",
    (reasoningHistory, reasoningDetails) => {
      const { messages, notes } = encode({ turns: history(foreign) }, { reasoningHistory, reasoningDetails });
      expect(JSON.stringify(messages)).not.toContain('"s"');
      for (const path of ["think.signature", "text.signature", "call.a.signature"])
        expect(notes).toContain(`dropped ${path}`);
    },
  );

  test("reasoning without details is kept, dropped and noted, or required in every message", () => {
    const turns = [...history(undefined), user, turn("assistant", { type: "text", text: "x" })];
    const said = ({ messages }: Outcome) => messages.filter(({ role }) => role === "assistant");
    const kept = said(encode({ turns }, { reasoningHistory: "keep", reasoningHistoryField: "reasoning" }));
    expect(kept[0]).toMatchObject({ reasoning: "hm" });
    expect(kept[1]).not.toHaveProperty("reasoning");
    const dropped = encode({ turns });
    expect(JSON.stringify(dropped.messages)).not.toContain("hm");
    expect(dropped.notes).toContain("dropped think");
    for (const reasoningPlaceholder of ["", " "]) {
      const required = said(encode({ turns }, { reasoningHistory: "required", reasoningPlaceholder }));
      expect(required.map((message) => message["reasoning_content"])).toEqual(["hm", reasoningPlaceholder]);
    }
  });
});

describe("content that this protocol lacks", () => {
  const only = (part: Part, quirks: Partial<ChatQuirks> = {}) => {
    const { messages, notes } = encode({ turns: [turn("user", part)] }, quirks);
    return { content: messages[0]?.["content"], notes };
  };

  test("a PDF is a file, a text document is text under its title, others are noted", () => {
    const pdf = { type: "data", mimeType: "application/pdf", data: "aGk=" } as const;
    const media = { type: "media", kind: "document", path: "doc" } as const;
    expect(only({ ...media, source: pdf, title: "Report" })).toEqual({
      content: [{ type: "file", file: { filename: "Report.pdf", file_data: "data:application/pdf;base64,aGk=" } }],
      notes: [],
    });
    expect(
      only({ ...media, source: { type: "text", text: "body" }, title: "T", context: "C", citations: true }),
    ).toEqual({
      content: "Document: T\nC\n\nbody",
      notes: ["dropped doc.citations", "approximated doc"],
    });
    expect(only({ ...media, source: { type: "data", mimeType: "text/plain", data: btoa("plain") } }).content).toBe(
      "plain",
    );
    expect(only({ ...media, source: { type: "url", url: "https://x.example/a.pdf" } })).toEqual({
      content: "",
      notes: ["dropped doc"],
    });
    expect(only({ ...media, source: { type: "file", id: "f", origin: "messages" } }).notes).toEqual(["dropped doc"]);
  });

  test("search results become text, blocks of another protocol are left out, and both are noted", () => {
    const result: Part = {
      type: "search-result",
      title: "T",
      source: "https://s.example",
      content: [{ type: "text", text: "found" }],
      path: "r",
    };
    expect(only(result)).toEqual({ content: "T\nhttps://s.example\n\nfound", notes: ["approximated r"] });
    expect(only({ type: "native", dialect: "messages", name: "x", raw: {}, path: "n" }).notes).toEqual(["dropped n"]);
    const searched: Part = { type: "server-tool-call", id: "s", name: "web_search", input: "{}", path: "s" };
    expect(encode({ turns: [user, turn("assistant", searched)] }).notes).toContain("dropped s");
  });

  test("images and audio that the host does not accept are left out and noted", () => {
    const url: Part = {
      type: "media",
      kind: "image",
      source: { type: "url", url: "https://x.example/a.png" },
      path: "i",
      detail: "ultra_high",
    };
    expect(only(url)).toEqual({
      content: [{ type: "image_url", image_url: { url: "https://x.example/a.png", detail: "high" } }],
      notes: ["approximated i.detail"],
    });
    expect(only(url, { mediaUrls: [] }).notes).toEqual(["dropped i"]);
    expect(only(url, { media: ["audio"] }).notes).toEqual(["dropped i"]);
  });

  test("H04: cache marks are sent where the host accepts them, elsewhere only a requested lifetime is noted", () => {
    const marked: Part = { type: "text", text: "a", path: "t", cache: { ttl: "1h" } };
    expect(only(marked, { cacheControl: true }).content).toEqual([
      { type: "text", text: "a", cache_control: { type: "ephemeral", ttl: "1h" } },
    ]);
    expect(only(marked)).toEqual({ content: "a", notes: ["dropped t.cache_control"] });
    expect(only({ ...marked, cache: {} })).toEqual({ content: "a", notes: [] });
  });

  test("system blocks become one message", () => {
    const system = [
      { type: "text", text: "a" },
      { type: "text", text: "b", cache: {} },
    ] as const;
    expect(encode({ system }).messages[0]).toEqual({ role: "system", content: "a\n\nb" });
    expect(encode({ system }, { cacheControl: true }).messages[0]).toEqual({
      role: "system",
      content: [
        { type: "text", text: "a" },
        { type: "text", text: "b", cache_control: { type: "ephemeral" } },
      ],
    });
  });

  test("a partial assistant message is continued in the host's way", () => {
    const begun = { role: "assistant", content: "It is" };
    const turns = [user, turn("assistant", { type: "text", text: "It is" })];
    const call = { dialect: "messages", turns } as const;
    const asked = ["approximated messages[assistant]"];
    expect(encode({ dialect: "chat", turns })).toMatchObject({ notes: [], messages: [expect.anything(), begun] });
    expect(encode(call, { prefill: "prefix" }).messages[1]).toEqual({ ...begun, prefix: true });
    expect(encode(call, { prefill: "plain" })).toMatchObject({ notes: [], messages: [expect.anything(), begun] });
    expect(encode(call, { prefill: "none" }, { prefill: true }).notes).toEqual([]);
    expect(encode(call, { prefill: "none" }).notes).toEqual(asked);
    expect(encode(call, { prefill: "none" }).messages.at(-1)).toEqual({ role: "user", content: CONTINUE_PROMPT });
    expect(encode(call, { prefill: "plain" }, { prefill: false }).notes).toEqual(asked);
  });
});

describe("settings", () => {
  test("rejected settings are left out, others adjusted, and all are noted", () => {
    const fields = {
      maxOutputTokens: 9000,
      temperature: 1,
      topP: 0.5,
      topK: 3,
      stop: ["1", "2", "3", "4", "5"],
      seed: 4,
      logprobs: 30,
      candidateCount: 2,
      cachedContent: "c",
      paths: { maxOutputTokens: "max_tokens", topK: "top_k" },
    };
    const { body, notes } = encode(
      fields,
      {
        maxTokensField: "max_tokens",
        seedField: "random_seed",
        temperature: { min: 0, max: 1 },
        unsupported: ["topK", "topP"],
      },
      { maxOutputTokens: 4096 },
    );
    expect(body).toEqual({
      max_tokens: 4096,
      temperature: 0.99,
      random_seed: 4,
      stop: ["1", "2", "3", "4"],
      logprobs: true,
      top_logprobs: 20,
    });
    expect(notes.toSorted()).toEqual([
      "approximated logprobs",
      "approximated max_tokens",
      "approximated stop",
      "approximated temperature",
      "dropped cachedContent",
      "dropped candidateCount",
      "dropped topP",
      "dropped top_k",
    ]);
    const rejecting = encode(
      { temperature: 1, topP: 1, stop: ["a"] },
      {},
      { rejectsSampling: true, rejectsStop: true },
    );
    expect(rejecting).toMatchObject({ body: {}, notes: ["dropped temperature", "dropped topP", "dropped stop"] });
  });

  test("fields of another dialect are noted", () => {
    const { notes } = encode({ extras: [{ keys: ["context_management"], value: {} }] });
    expect(notes).toEqual(["dropped context_management"]);
  });

  test("streams request their usage", () => {
    const { body } = chatCodec.encodeRequest(callOf(), requestContext({}, {}, true));
    expect(body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
    expect(
      chatCodec.encodeRequest(callOf(), requestContext({ askStreamUsage: false }, {}, true)).body,
    ).not.toHaveProperty("stream_options");
  });
});

describe("mapping 1: reasoning amount", () => {
  const reason = (
    amount: ReasoningAmount,
    quirks: Partial<ChatQuirks>,
    traits?: Partial<ModelTraits>,
    limit?: number,
  ) => {
    const fields = limit === undefined ? {} : { maxOutputTokens: limit };
    const { body, notes } = encode({ reasoning: { amount, path: "r" }, ...fields }, quirks, traits);
    const { max_completion_tokens: _limit, ...rest } = body;
    return [rest, ...notes];
  };

  test("as an effort", () => {
    const field = { reasoningField: "reasoning_effort" } as const;
    expect(reason("high", field)).toEqual([{ reasoning_effort: "high" }]);
    expect(reason({ budget: 9000 }, field)).toEqual([{ reasoning_effort: "medium" }, "approximated r"]);
    expect(reason("off", field)).toEqual([{ reasoning_effort: "low" }, "approximated r"]);
    expect(reason("off", field, { efforts: ["off", "low"] })).toEqual([{ reasoning_effort: "none" }]);
    expect(reason("max", { ...field, effortWords: { max: "xhigh" } }, { efforts: ["max"] })).toEqual([
      { reasoning_effort: "xhigh" },
    ]);
    expect(reason("xhigh", field)).toEqual([{ reasoning_effort: "high" }, "approximated r"]);
    expect(reason("high", field, { reasoning: false })).toEqual([{}, "dropped r"]);
    expect(reason("off", field, { reasoning: false })).toEqual([{}]);
  });

  test("in the host's other fields", () => {
    expect(reason("high", { reasoningField: "thinking" })).toEqual([
      { thinking: { type: "enabled" } },
      "approximated r",
    ]);
    expect(reason("off", { reasoningField: "thinking" })).toEqual([{ thinking: { type: "disabled" } }]);
    const beside = { reasoningField: "thinking", thinkingEffort: true, efforts: ["high", "max"] } as const;
    expect(reason("max", beside)).toEqual([{ thinking: { type: "enabled" }, reasoning_effort: "max" }]);
    expect(reason("dynamic", beside)).toEqual([{ thinking: { type: "enabled" } }]);
    const budgeted = { reasoningField: "thinking", thinkingBudget: true } as const;
    expect(reason("low", budgeted)).toEqual([{ thinking: { type: "enabled", budget_tokens: 2048 } }]);
    expect(reason({ budget: 5000 }, budgeted, {}, 3000)).toEqual([
      { thinking: { type: "enabled", budget_tokens: 2999 } },
      "approximated r",
    ]);
    expect(reason("low", budgeted, {}, 500)).toEqual([{ thinking: { type: "disabled" } }, "dropped r"]);
    expect(reason("off", budgeted, { budget: { min: 128, max: 9000, off: false } })).toEqual([
      { thinking: { type: "enabled", budget_tokens: 128 } },
      "approximated r",
    ]);
    expect(reason({ budget: 3000 }, { reasoningField: "enable_thinking" })).toEqual([
      { enable_thinking: true, thinking_budget: 3000 },
    ]);
    expect(reason("dynamic", { reasoningField: "enable_thinking" })).toEqual([{ enable_thinking: true }]);
    expect(reason("off", { reasoningField: "enable_thinking" })).toEqual([{ enable_thinking: false }]);
    expect(reason("high", { reasoningField: "none" })).toEqual([{}, "dropped r"]);
  });

  test("H09: a request for visible thoughts turns thinking on, exclude: false does not", () => {
    const { body, notes } = encode({ reasoning: { path: "r", show: true } }, { reasoningField: "reasoning_effort" });
    expect([body, notes]).toEqual([{ reasoning_effort: "medium" }, ["approximated r"]]);
    const asked = { model: "m", messages: [{ role: "user", content: "hi" }], reasoning: { exclude: false } };
    expect(chatCodec.decodeRequest(asked).reasoning).toBeUndefined();
  });
});

describe("tools and response formats", () => {
  const tools = [fn("f"), fn("g")];
  const any = { type: "any" } as const;

  test("tool choices use the host's values", () => {
    expect(encode({ tools, toolChoice: any }).body["tool_choice"]).toBe("required");
    expect(encode({ tools, toolChoice: any }, { anyToolWord: "any" }).body["tool_choice"]).toBe("any");
    expect(encode({ tools, toolChoice: any }, { anyToolWord: undefined })).toMatchObject({
      body: { tool_choice: "auto" },
      notes: ["approximated tool_choice"],
    });
    const named = encode({ tools, toolChoice: { type: "tool", name: "g" } }, { namedToolChoice: false }).body;
    expect(named).toMatchObject({ tool_choice: "required", tools: [{ function: { name: "g" } }] });
    const allowed = encode({ tools, toolChoice: { type: "allowed", mode: "auto", names: ["f"] } }).body;
    expect(allowed).toMatchObject({ tool_choice: "auto", tools: [{ function: { name: "f" } }] });
    // Without tools, only a forced call is lost.
    expect(encode({ toolChoice: { type: "none" }, parallelTools: true })).toMatchObject({ body: {}, notes: [] });
    expect(encode({ toolChoice: { type: "any" } })).toMatchObject({ body: {}, notes: ["dropped tool_choice"] });
  });

  test("web search is sent if the host supports it, and noted otherwise", () => {
    const search: Tool = { type: "web-search", path: "tools[0]", maxUses: 2, location: { city: "Oslo" } };
    expect(encode({ tools: [search] })).toMatchObject({ body: {}, notes: ["dropped tools[0]"] });
    expect(encode({ tools: [search] }, { webSearch: true })).toMatchObject({
      body: { web_search_options: { user_location: { type: "approximate", approximate: { city: "Oslo" } } } },
      notes: ["dropped tools[0].max_uses"],
    });
    const marked: Tool = { type: "web-search", path: "tools[0]", cache: {} };
    for (const cacheControl of [true, false]) {
      const { notes } = encode({ tools: [marked] }, { webSearch: true, cacheControl });
      expect(notes).toEqual(["dropped tools[0].cache_control"]);
    }
  });

  test("a schema is sent with an object at its root", () => {
    const schema = { type: "array", items: { type: "string" } };
    const { body, reading, notes } = encode({ format: { type: "schema", schema, strict: true } });
    expect(body["response_format"]).toMatchObject({
      json_schema: { name: "answer", strict: true, schema: { type: "object", properties: { answer: schema } } },
    });
    expect([reading, notes]).toEqual([{ unwrapMember: "answer" }, []]);
  });

  test("a forced tool replaces a schema that the host does not support", () => {
    const format = { type: "schema", schema: { type: "object" } } as const;
    const alone = encode({ format }, { outputFormats: ["json"] });
    expect(alone).toMatchObject({
      body: {
        tools: [{ function: { name: "answer" } }],
        tool_choice: { type: "function", function: { name: "answer" } },
      },
      reading: { structuredTool: "answer" },
      notes: ["approximated response_format"],
    });
    expect(alone.body).not.toHaveProperty("response_format");
    const beside = encode({ format, tools: [fn("answer")] }, {}, { structuredOutput: false });
    expect(beside).toMatchObject({ body: { tool_choice: "required" }, reading: { structuredTool: "answer_2" } });
    const none = encode({ format, tools, toolChoice: { type: "none" } }, { outputFormats: [] }).body;
    expect(none["tools"]).toHaveLength(1);
  });

  test("adds a mention of JSON, which hosts require in the prompt", () => {
    const format = { type: "json" } as const;
    expect(encode({ format })).toMatchObject({
      body: { response_format: { type: "json_object" } },
      messages: [{ role: "system" }, {}],
    });
    expect(encode({ format, system: [{ type: "text", text: "Speak JSON." }] }).messages[0]).toEqual({
      role: "system",
      content: "Speak JSON.",
    });
    expect(encode({ format }, { outputFormats: [] })).toMatchObject({
      body: {},
      notes: ["approximated response_format"],
    });
  });
});

describe("what hosts reject", () => {
  const open = { type: "object", properties: { a: { type: "string" }, b: {} }, required: ["a"] };
  const closed = { ...open, required: ["a", "b"], additionalProperties: false };
  const tool = (schema: JsonObject, strict?: boolean): Tool => ({
    type: "function",
    name: "f",
    path: "tools[0]",
    schema,
    ...(strict === undefined ? {} : { strict }),
  });
  const declared = (call: Partial<CanonCall>) =>
    (encode(call).body["tools"] as { function: JsonObject }[]).map((one) => one.function);

  test("strict calls with an open schema, which other protocols' hosts accept", () => {
    expect(declared({ tools: [tool(closed, true)] })).toMatchObject([{ strict: true }]);
    expect(declared({ tools: [tool(open, true)] })[0]).not.toHaveProperty("strict");
    expect(encode({ tools: [tool(open, true)] }).notes).toEqual(["dropped tools[0].strict"]);
    expect(declared({ tools: [tool({ ...closed, properties: { a: open, b: {} } }, true)] })[0]).not.toHaveProperty(
      "strict",
    );
    expect(declared({ dialect: "chat", tools: [tool(open, true)] })).toMatchObject([{ strict: true }]);
  });

  test("schemas of arguments that are not objects with properties", () => {
    const parameters = (schema: JsonObject) => declared({ tools: [tool(schema)] })[0]?.["parameters"];
    expect(parameters({})).toEqual({ type: "object", properties: {} });
    expect(parameters({ type: "object" })).toEqual({ type: "object", properties: {} });
    expect(parameters(open)).toEqual(open);
  });

  test("all sampling settings, for models without sampling", () => {
    const { body, notes } = encode(
      { temperature: 1, topP: 1, frequencyPenalty: 1, presencePenalty: 1, logprobs: 2, logitBias: { 1: 2 }, seed: 3 },
      {},
      { rejectsSampling: true },
    );
    expect(body).toEqual({ seed: 3 });
    expect(notes).toHaveLength(6);
  });

  test("a choice of a tool that is not a function", () => {
    const toolChoice = { type: "tool", name: "web_search" } as const;
    const { body, notes } = encode({ tools: [fn("f")], toolChoice, paths: { toolChoice: "tool_choice" } });
    expect(body).not.toHaveProperty("tool_choice");
    expect(notes).toEqual(["dropped tool_choice"]);
  });
});

test("a request without messages: instructions without text become an empty message", () => {
  expect(encode({ turns: [] }).messages).toEqual([{ role: "user", content: "" }]);
});
