import { describe, expect, test } from "bun:test";
import { isObject, type JsonObject } from "../../../base/json.ts";
import type { ModelTraits } from "../../../canon/traits.ts";
import { parseInOrder, stringifyInOrder } from "../../../wire/ordered-json.ts";
import { DEFAULT_MESSAGES_QUIRKS } from "../quirks.ts";
import { recordedRequests, recordingsThere } from "../recordings.sample.ts";
import { decodeRequest } from "../request/decode-request.ts";
import { encodeRequest } from "../request/encode-request.ts";
import { checkMessagesRequest } from "../schema/check-request.ts";

const encode = (body: JsonObject, traits: Partial<ModelTraits> = {}) =>
  encodeRequest(decodeRequest(body), {
    upstreamModel: String(body["model"]),
    stream: body["stream"] === true,
    traits: { reasoning: true, ...traits },
    quirks: DEFAULT_MESSAGES_QUIRKS,
    origin: "messages",
  });

type Loose = Record<string, unknown>;

const blocksOf = (content: unknown): Loose[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : ((content ?? []) as Loose[]);

/** The dialect's normal form, computed independently of the codec. */
function normalForm(body: JsonObject): unknown {
  const { output_format, stream, tools, tool_choice, system, messages, ...rest } = withoutNulls(body) as Loose;
  const merged: Loose[] = [];
  for (const { role, content, ...extras } of messages as Loose[]) {
    const before = merged.at(-1);
    if (before !== undefined && before["role"] === role)
      before["content"] = [...blocksOf(before["content"]), ...blocksOf(content)];
    else merged.push({ role, content: blocksOf(content), ...extras });
  }
  const { disable_parallel_tool_use: single, ...choice } = (tool_choice ?? {}) as Loose;
  return withoutNulls({
    ...rest,
    messages: merged.map((message) => ({ ...message, content: blocksOf(message["content"]).map(normalBlock) })),
    system: system === undefined ? null : blocksOf(system),
    stream: stream === true ? true : null,
    tools: (tools as unknown[] | undefined)?.length ? tools : null,
    tool_choice: tool_choice === undefined ? null : { ...choice, disable_parallel_tool_use: single || null },
    ...(output_format === undefined ? {} : { output_config: { format: output_format } }),
  });
}

function normalBlock(block: Loose): Loose {
  const { content, source } = block;
  if (block["type"] === "tool_result") return { ...block, content: content === undefined ? null : blocksOf(content) };
  return isObject(source) && source["type"] === "content"
    ? { ...block, source: { ...source, content: blocksOf(source["content"]) } }
    : block;
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([, one]) => one !== null);
  return Object.fromEntries(kept.map(([key, one]) => [key, withoutNulls(one)]));
}

describe.skipIf(!recordingsThere)("law 1: every recorded request", () => {
  test.each(recordedRequests())("%s", (_name, recorded) => {
    const body: JsonObject = { model: "m", ...recorded };
    const { body: encoded, notes } = encode(body);
    expect(normalForm(encoded)).toEqual(normalForm(body));
    expect(notes).toEqual([]);
  });
});

const IMAGE = { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } };
const CITATIONS = [
  {
    type: "char_location",
    cited_text: "a",
    document_index: 0,
    document_title: "T",
    start_char_index: 1,
    end_char_index: 2,
  },
  { type: "page_location", cited_text: "b", document_index: 1, start_page_number: 1, end_page_number: 3 },
  { type: "content_block_location", cited_text: "c", document_index: 1, start_block_index: 0, end_block_index: 1 },
  { type: "web_search_result_location", cited_text: "d", url: "https://a.example", title: "A", encrypted_index: "idx" },
  {
    type: "search_result_location",
    cited_text: "e",
    source: "kb/1",
    title: "KB",
    search_result_index: 0,
    start_block_index: 0,
    end_block_index: 1,
  },
];

/** Every field of the schema, in an order that a conversation allows. */
const EVERYTHING: JsonObject = {
  model: "m",
  max_tokens: 5000,
  stop_sequences: ["END", "STOP"],
  stream: true,
  temperature: 1,
  thinking: { type: "enabled", budget_tokens: 2000, display: "omitted" },
  system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral", ttl: "1h" } }],
  metadata: { user_id: "u1", team: "blue" },
  service_tier: "standard_only",
  container: "container_1",
  mcp_servers: [{ type: "url", url: "https://mcp.example", name: "s" }],
  context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
  cache_control: { type: "ephemeral", ttl: "5m" },
  output_config: {
    effort: "high",
    format: { type: "json_schema", schema: { type: "object", properties: { n: { type: "integer", minimum: 1 } } } },
    task_budget: { type: "tokens", total: 20000 },
  },
  tool_choice: { type: "auto", disable_parallel_tool_use: true },
  tools: [
    {
      name: "weather",
      description: "Weather of a city.",
      input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      strict: true,
      cache_control: { type: "ephemeral" },
      eager_input_streaming: true,
    },
    { type: "bash_20250124", name: "bash" },
    { type: "text_editor_20250728", name: "str_replace_based_edit_tool", max_characters: 10000 },
    {
      type: "web_search_20250305",
      name: "web_search",
      allowed_domains: ["a.example"],
      max_uses: 3,
      user_location: { type: "approximate", city: "Paris", region: "IDF", country: "FR", timezone: "Europe/Paris" },
    },
    { type: "computer_20251124", name: "computer", display_width_px: 1920, display_height_px: 1080 },
  ],
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: "Look at these." },
        IMAGE,
        { type: "image", source: { type: "url", url: "https://a.example/x.png" } },
        { type: "image", source: { type: "file", file_id: "file_1" } },
        {
          type: "document",
          source: { type: "base64", media_type: "application/pdf", data: "JVBERi0=" },
          title: "Paper",
          context: "Background",
          citations: { enabled: true },
        },
        { type: "document", source: { type: "text", media_type: "text/plain", data: "plain" } },
        { type: "document", source: { type: "content", content: [{ type: "text", text: "inner" }, IMAGE] } },
        { type: "document", source: { type: "url", url: "https://a.example/x.pdf" } },
        { type: "document", source: { type: "file", file_id: "file_2" } },
        {
          type: "search_result",
          source: "kb/1",
          title: "KB",
          content: [{ type: "text", text: "found" }],
          citations: { enabled: false },
        },
        { type: "container_upload", file_id: "file_3" },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Hm.", signature: "sig1" },
        { type: "thinking", thinking: "", signature: "sig2" },
        { type: "redacted_thinking", data: "red" },
        { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "q" } },
        {
          type: "web_search_tool_result",
          tool_use_id: "srvtoolu_1",
          content: [
            {
              type: "web_search_result",
              url: "https://a.example",
              title: "A",
              encrypted_content: "enc",
              page_age: "1 day",
            },
          ],
        },
        { type: "server_tool_use", id: "srvtoolu_2", name: "web_search", input: { query: "r" } },
        {
          type: "web_search_tool_result",
          tool_use_id: "srvtoolu_2",
          content: { type: "web_search_tool_result_error", error_code: "unavailable" },
        },
        { type: "server_tool_use", id: "srvtoolu_3", name: "bash_code_execution", input: { command: "ls" } },
        { type: "bash_code_execution_tool_result", tool_use_id: "srvtoolu_3", content: { stdout: "x" } },
        { type: "text", text: "Cited.", citations: CITATIONS },
        { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Paris" }, caller: { type: "direct" } },
        { type: "tool_use", id: "toolu_2", name: "weather", input: {} },
      ],
    },
    {
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: "toolu_1",
          content: [
            { type: "text", text: "21" },
            IMAGE,
            { type: "document", source: { type: "text", media_type: "text/plain", data: "report" } },
            { type: "search_result", source: "kb/2", title: "KB2", content: [{ type: "text", text: "hit" }] },
            { type: "tool_reference", tool_name: "weather" },
          ],
        },
        { type: "tool_result", tool_use_id: "toolu_2", content: "boom", is_error: true },
        { type: "text", text: "Go on.", cache_control: { type: "ephemeral", ttl: "5m" } },
      ],
    },
  ],
};

describe("law 1: requests with every field", () => {
  test("a request with every field passes the check and comes back", () => {
    expect(() => checkMessagesRequest(EVERYTHING, { door: "dropin" } as never)).not.toThrow();
    const { body, notes } = encode(EVERYTHING);
    expect(normalForm(body)).toEqual(normalForm(EVERYTHING));
    expect(notes).toEqual([]);
  });

  const small = { model: "m", max_tokens: 10, messages: [{ role: "user", content: "hi" }] };
  test.each([
    ["adaptive", { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "xhigh" } }],
    ["adaptive without an effort", { thinking: { type: "adaptive" } }],
    ["between tools", { thinking: { type: "between_tools" }, output_config: { effort: "low" } }],
    ["disabled", { thinking: { type: "disabled" } }],
    ["disabled with an effort", { thinking: { type: "disabled" }, output_config: { effort: "medium" } }],
    ["an unknown effort", { output_config: { effort: "heroic" } }],
    ["an unknown display", { thinking: { type: "adaptive", display: "sung" } }],
    ["sampling", { temperature: 0.5, top_k: 40 }],
    ["top_p", { top_p: 0.9 }],
    ["choice any", { tool_choice: { type: "any" }, tools: [{ name: "f", input_schema: { type: "object" } }] }],
    ["choice none", { tool_choice: { type: "none" }, tools: [{ name: "f", input_schema: { type: "object" } }] }],
    [
      "choice of one",
      {
        tool_choice: { type: "tool", name: "f", disable_parallel_tool_use: true },
        tools: [{ name: "f", input_schema: { type: "object" } }],
      },
    ],
    [
      "a later web search",
      { tools: [{ type: "web_search_20260209", name: "web_search", blocked_domains: ["x.example"] }] },
    ],
    ["system as a string", { system: "Be kind." }],
    ["unknown fields of a message", { messages: [{ role: "user", content: "a", mood: "fine" }] }],
    ["the older output_format", { output_format: { type: "json_schema", schema: { type: "object" } } }],
    ["a format of another kind", { output_config: { format: { type: "grammar", text: "x" } } }],
    [
      "citations of an unknown kind",
      {
        messages: [
          {
            role: "user",
            content: [{ type: "text", text: "a", citations: [{ type: "moon_location", cited_text: "x" }] }],
          },
        ],
      },
    ],
  ])("%s", (_name, more) => {
    const efforts = ["off", "low", "medium", "high", "xhigh", "max"] as const;
    const body: JsonObject = { ...small, ...more };
    const { body: encoded, notes } = encode(body, { reasoningForm: "adaptive", efforts });
    expect(normalForm(encoded)).toEqual(normalForm(body));
    expect(notes).toEqual([]);
  });

  test("H05: integer-like keys of arguments and schemas keep their position", () => {
    const text =
      '{"model":"m","max_tokens":9,"tools":[{"name":"f","input_schema":{"type":"object","properties":{"b":{},"7":{},"a":{}}}}],' +
      '"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{"b":1,"7":2,"a":3}}]}]}';
    const written = stringifyInOrder(encode(parseInOrder(text) as JsonObject).body);
    expect(written).toContain('"input":{"b":1,"7":2,"a":3}');
    expect(written).toContain('"properties":{"b":{},"7":{},"a":{}}');
  });
});
