import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../base/json.ts";
import { AT_DROPIN_DOOR, refusalOf } from "../../reading/refusal-table.ts";
import { chatCodec } from "../codec.ts";
import { requestContext } from "../contexts.sample.ts";
import { chatRecordings, readRecordedJson, recordingsPresent } from "../recordings.sample.ts";
import { checkChatRequest } from "../schema/check-request.ts";

/** A host of the dialect that accepts everything as the contract defines it. */
const CONTRACT_HOST = {
  reasoningField: "reasoning",
  reasoningHistory: "keep",
  reasoningDetails: true,
  webSearch: true,
  cacheControl: true,
  unsupported: [],
} as const;

/** Decodes and encodes. A request to its own dialect must not lose anything. */
function roundTrip(body: JsonObject, quirks: object = {}): JsonObject {
  const context = requestContext({ ...CONTRACT_HOST, ...quirks });
  const encoded = chatCodec.encodeRequest(chatCodec.decodeRequest(body), {
    ...context,
    upstreamModel: String(body["model"]),
  });
  expect(encoded.notes).toEqual([]);
  return encoded.body;
}

const user = { role: "user", content: "hi" };

interface RecordedMessage extends JsonObject {
  role: string;
  content?: string | { type: string; text: string }[] | null;
  tool_calls?: unknown[];
}

/** The normal form that decodeRequest documents, computed without its code. */
function normalForm({
  stream: _stream,
  stream_options: _options,
  provider: _routing,
  ...body
}: JsonObject): JsonObject {
  const messages = (body["messages"] as RecordedMessage[]).map(({ content, ...message }) => {
    const parts = Array.isArray(content) ? content.map(withoutNulls) : [];
    const [only] = parts;
    const isText = parts.length === 1 && only?.["type"] === "text" && Object.keys(only).length === 2;
    const plain = isText ? only["text"] : Array.isArray(content) ? parts : content;
    const role = message.role === "developer" ? "system" : message.role;
    return { ...withoutNulls(message), role, content: plain ?? (message.tool_calls ? null : "") };
  });
  const { tools = [], functions, function_call: called, ...rest } = body;
  if (Array.isArray(functions)) {
    const newer = functions.map((one: unknown) => ({ type: "function", function: one }));
    return {
      ...rest,
      messages,
      tools: newer,
      ...(called === undefined ? {} : { tool_choice: { type: "function", function: called } }),
      parallel_tool_calls: false,
    };
  }
  return { ...rest, messages, ...(Array.isArray(tools) && tools.length > 0 ? { tools } : {}) };
}

const withoutNulls = (object: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([, member]) => member !== null));

describe.skipIf(!recordingsPresent)("law 1: recorded requests come back in their normal form", () => {
  const requests = chatRecordings.flatMap(({ request_file }) => {
    if (request_file === null) return [];
    const body = readRecordedJson(request_file);
    return refusalOf(checkChatRequest, body, AT_DROPIN_DOOR) === undefined ? [[request_file, body] as const] : [];
  });

  test("there are enough of them", () => {
    expect(requests.length).toBeGreaterThan(30);
  });

  test.each(requests)("%s", (_file, body) => {
    const quirks = {
      maxTokensField: "max_tokens" in body ? "max_tokens" : "max_completion_tokens",
      reasoningField: "reasoning_effort",
      reasoningDetails: false,
    };
    expect(roundTrip(body, quirks)).toEqual(normalForm(body));
  });
});

/** Requests with every field of the schema, already in normal form. */
const WHOLE: Record<string, JsonObject> = {
  settings: {
    model: "m",
    messages: [user],
    max_completion_tokens: 100,
    temperature: 0.5,
    top_p: 0.9,
    n: 1,
    frequency_penalty: -1,
    presence_penalty: 2,
    stop: ["a", "b"],
    logit_bias: { "50256": -100 },
    logprobs: true,
    top_logprobs: 3,
    verbosity: "low",
    metadata: { trace: "x" },
    seed: 7,
    user: "u1",
    service_tier: "flex",
    prediction: { type: "content", content: "x" },
    top_k: 3,
  },
  "reasoning by effort": { model: "m", messages: [user], reasoning: { effort: "high", exclude: true } },
  "reasoning by budget": { model: "m", messages: [user], reasoning: { max_tokens: 5000, custom: 1 } },
  "reasoning on": { model: "m", messages: [user], reasoning: { enabled: true } },
  "reasoning off": { model: "m", messages: [user], reasoning: { enabled: false } },
  "an unknown effort": { model: "m", messages: [user], reasoning_effort: "galactic" },
  tools: {
    model: "m",
    messages: [user],
    tools: [
      {
        type: "function",
        function: {
          name: "f",
          description: "d",
          parameters: { type: "object", properties: { "2": {}, b: {} } },
          strict: true,
          odd: 1,
        },
        cache_control: { type: "ephemeral", ttl: "1h" },
      },
      { type: "custom", custom: { name: "c", description: "d", format: { type: "text" } } },
      { type: "maker:web_search", depth: 3 },
    ],
    tool_choice: { type: "function", function: { name: "f" } },
    parallel_tool_calls: false,
    web_search_options: {
      search_context_size: "low",
      user_location: { type: "approximate", approximate: { city: "Oslo", country: "NO" } },
      odd: true,
    },
  },
  "a custom choice": {
    model: "m",
    messages: [user],
    tools: [{ type: "custom", custom: { name: "c" } }],
    tool_choice: { type: "custom", custom: { name: "c" } },
  },
  "allowed tools": {
    model: "m",
    messages: [user],
    tools: [{ type: "function", function: { name: "f" } }],
    tool_choice: {
      type: "allowed_tools",
      allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "f" } }] },
    },
  },
  "a schema": {
    model: "m",
    messages: [user],
    response_format: {
      type: "json_schema",
      json_schema: {
        name: "n",
        schema: { type: "object", properties: { a: { type: "string" } } },
        strict: true,
        description: "d",
        odd: 1,
      },
    },
  },
  json: { model: "m", messages: [user], response_format: { type: "json_object" } },
  "a conversation": {
    model: "m",
    messages: [
      { role: "system", content: "Be brief.", name: "boss" },
      {
        role: "user",
        name: "ann",
        content: [
          { type: "text", text: "look", cache_control: { type: "ephemeral" } },
          { type: "image_url", image_url: { url: "https://x.example/a.png", detail: "low" } },
          {
            type: "image_url",
            image_url: { url: "data:image/png;base64,aGk=", odd: 1 },
            cache_control: { type: "ephemeral", ttl: "5m" },
          },
          { type: "input_audio", input_audio: { data: "aGk=", format: "mp3" } },
          { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,aGk=" } },
          { type: "file", file: { file_id: "file-1" } },
          { type: "video_url", video_url: { url: "data:video/mp4;base64,aGk=" } },
          { type: "maker_part", data: [1] },
        ],
      },
      {
        role: "assistant",
        content: "I call.",
        name: "bot",
        reasoning_content: "hm",
        reasoning_details: [{ type: "reasoning.text", text: "hm", index: 0 }],
        tool_calls: [
          { id: "1", type: "function", function: { name: "f", arguments: '{"2":1,"1":2}' }, odd: 1 },
          { id: "2", type: "custom", custom: { name: "c", input: "free text" } },
          { id: "3", type: "maker_call", maker_call: { x: 1 } },
        ],
      },
      { role: "tool", tool_call_id: "1", content: "one", name: "f" },
      { role: "tool", tool_call_id: "2", content: "two", odd: 1 },
      { role: "user", content: "go on", odd: { x: 1 } },
      { role: "system", content: "And politely." },
      { role: "assistant", content: null, refusal: "no" },
      { role: "user", content: "speak" },
      { role: "assistant", content: null, audio: { id: "audio_1" } },
      { role: "user", content: "" },
      {
        role: "assistant",
        content: [
          { type: "text", text: "a", odd: 1 },
          { type: "maker_part", x: 1 },
        ],
      },
      {
        role: "user",
        content: [
          { type: "text", text: "one" },
          { type: "text", text: "two" },
        ],
      },
    ],
  },
};

describe("law 1: hand-made requests come back unchanged", () => {
  test.each(Object.entries(WHOLE))("%s", (_name, body) => {
    expect(refusalOf(checkChatRequest, body, AT_DROPIN_DOOR)).toBeUndefined();
    const before = structuredClone(body);
    expect(roundTrip(body)).toEqual(body);
    expect(body).toEqual(before);
  });

  test("fields that the gateway handles itself are not sent", () => {
    const own = {
      stream: true,
      stream_options: { include_usage: true },
      usage: { include: true },
      provider: {},
      model_routing_config: {},
    };
    expect(roundTrip({ model: "m", messages: [user], ...own })).toEqual({ model: "m", messages: [user] });
  });

  test.each<[string, JsonObject, JsonObject]>([
    ["a single stop", { stop: "x" }, { stop: ["x"] }],
    ["null is absent", { stop: null, seed: null, reasoning_effort: null, logprobs: false }, {}],
    ["a text format", { response_format: { type: "text" } }, {}],
    ["budget before effort", { reasoning: { effort: "low", max_tokens: 2000 } }, { reasoning: { max_tokens: 2000 } }],
    [
      "reasoning_effort before reasoning",
      { reasoning_effort: "high", reasoning: { effort: "low" } },
      { reasoning: { effort: "high" } },
    ],
    ["reasoning_effort none", { reasoning_effort: "none" }, { reasoning: { enabled: false } }],
  ])("normal form: %s", (_name, fields, expected) => {
    expect(roundTrip({ model: "m", messages: [user], ...fields })).toEqual({
      model: "m",
      messages: [user],
      ...expected,
    });
  });
});

describe("messages", () => {
  const turnsOf = (...messages: unknown[]) => chatCodec.decodeRequest({ model: "m", messages }).turns;

  test("leading system and developer messages are the system text, in order", () => {
    const call = chatCodec.decodeRequest({
      model: "m",
      messages: [
        { role: "system", content: "a" },
        { role: "developer", content: [{ type: "text", text: "b", cache_control: { type: "ephemeral" } }] },
        user,
        { role: "system", content: "c" },
      ],
    });
    expect(call.system).toEqual([
      { type: "text", text: "a", path: "messages[0].content" },
      { type: "text", text: "b", path: "messages[1].content[0]", cache: {} },
    ]);
    expect(call.turns.map(({ role }) => role)).toEqual(["user", "system"]);
  });

  test("consecutive tool messages are one turn of results", () => {
    const tool = (id: string) => ({ role: "tool", tool_call_id: id, content: id });
    const calls = ["1", "2"].map((id) => ({ id, type: "function", function: { name: "f", arguments: "{}" } }));
    const turns = turnsOf(user, { role: "assistant", tool_calls: calls }, tool("1"), tool("2"), user);
    expect(turns.map(({ role, parts }) => [role, parts.length])).toEqual([
      ["user", 1],
      ["assistant", 2],
      ["user", 2],
      ["user", 1],
    ]);
  });

  test("choices 5: a function message answers the last call of its name", () => {
    const [, assistant, results] = turnsOf(
      user,
      { role: "assistant", content: null, function_call: { name: "f", arguments: "{}" } },
      { role: "function", name: "f", content: "42" },
    );
    const [call] = assistant?.parts ?? [];
    expect(call).toMatchObject({ type: "tool-call", name: "f", input: "{}" });
    expect(results?.parts).toMatchObject([
      { type: "tool-result", callId: call?.type === "tool-call" ? call.id : "", name: "f" },
    ]);
  });

  test("H01, H02: reasoning_details return every opaque value to what it belongs to", () => {
    const details = [
      { type: "reasoning.text", text: "think", signature: "s1", format: "messages", index: 0 },
      { type: "reasoning.encrypted", data: "r1", format: "messages", index: 1 },
      { type: "reasoning.summary", summary: "sum", format: "host:v1", signature: "s2", index: 2 },
      { type: "reasoning.encrypted", data: "g1", format: "genai", id: "call_1", index: 3 },
      { type: "reasoning.encrypted", data: "g2", format: "genai", id: "content", index: 4 },
      { type: "reasoning.encrypted", data: "g3", format: "genai", id: "content-end", index: 5 },
    ];
    const tool_calls = [{ id: "call_1", type: "function", function: { name: "f", arguments: "{}" } }];
    const [turn] = turnsOf({
      role: "assistant",
      content: "said",
      reasoning: "think",
      reasoning_content: "think",
      reasoning_details: details,
      tool_calls,
    });
    const genai = (value: string) => ({ origin: "genai", kind: "signature", value });
    const withoutPaths = turn?.parts.map(({ path: _path, ...part }) => part);
    expect(withoutPaths as unknown).toEqual([
      { type: "reasoning", text: "think", signature: { origin: "messages", kind: "signature", value: "s1" } },
      { type: "reasoning", text: "", signature: { origin: "messages", kind: "redacted", value: "r1" } },
      {
        type: "reasoning",
        text: "sum",
        summary: true,
        signature: { origin: "host", kind: "signature", value: "s2", format: "v1" },
      },
      { type: "text", text: "said", signature: genai("g2") },
      { type: "text", text: "", signature: genai("g3") },
      { type: "tool-call", id: "call_1", name: "f", input: "{}", signature: genai("g1") },
    ]);
  });

  test("a file's type comes from its data URL or its name", () => {
    const file = (fields: object) => ({ role: "user", content: [{ type: "file", file: fields }] });
    const sources = turnsOf(
      file({ file_data: "aGk=" }),
      file({ file_data: "aGk=", filename: "a.csv" }),
      file({ file_data: "data:image/png;base64,aGk=" }),
    );
    expect(sources.flatMap(({ parts }) => parts) as unknown).toMatchObject([
      { kind: "document", source: { mimeType: "application/pdf" } },
      { kind: "document", source: { mimeType: "text/csv" }, title: "a.csv" },
      { kind: "image", source: { mimeType: "image/png" } },
    ]);
  });
});
