import { join } from "node:path";
import type { DialectName } from "../../src/canon/dialect-name.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { type Shape, wordsOf } from "../../testing/sdk-types/declared-type.ts";
import { readTypeScript } from "../../testing/sdk-types/read-typescript.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import type { Cheat, CheatGroup, Outcome } from "./cheat.ts";

const declared = await readTypeScript(join(import.meta.dir, "../../node_modules"), [
  { file: "openai/resources/responses/responses.d.ts", type: "Tool" },
  { file: "openai/resources/responses/responses.d.ts", type: "ServiceTier" },
  { file: "@anthropic-ai/sdk/resources/beta/messages/messages.d.ts", type: "BetaToolUnion" },
  { file: "@google/genai/dist/genai.d.ts", type: "Tool" },
]);
const [RESPONSES_TOOL, SERVICE_TIER, MESSAGES_TOOL, GENAI_TOOL] = declared.map((shape) => {
  if (shape === undefined) throw new Error("An SDK no longer declares its tools or tiers.");
  return shape;
}) as [Shape, Shape, Shape, Shape];

/** What vendors declare free, or what the caller runs: listed here independently of the tables. */
const FREE =
  /^(function|custom|namespace|mcp|mcp_toolset|tool_search.*|computer.*|apply_patch|local_shell|web_fetch.*|bash_\d+|text_editor_\d+|memory_\d+|browser_toolset_\d+|urlContext|codeExecution|fileSearch|computerUse|mcpServers|functionDeclarations)$/;

/** Something that a request uses, and a response that shows its use. */
interface Asked {
  vendor: string;
  client: DialectName;
  model: string;
  name: string;
  body: object;
  answer: object;
}

const USES = 3;
const times = <Item>(item: Item): Item[] => Array.from({ length: USES }, () => item);
const plain = (name: string): string => name.replace(/(_preview)?(_\d{8}|_\d{4}_\d{2}_\d{2})?$/, "");

const response = (more: object, output: readonly object[] = []) => ({
  id: "resp_1",
  object: "response",
  created_at: 1,
  status: "completed",
  model: "m",
  output: [...output, { type: "message", id: "m", role: "assistant", content: [{ type: "output_text", text: "hi" }] }],
  usage: { input_tokens: 10, output_tokens: 7, total_tokens: 17 },
  ...more,
});
const message = (usage: object, content: readonly object[] = []) => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m",
  stop_reason: "end_turn",
  content: [...content, { type: "text", text: "hi" }],
  usage: { input_tokens: 10, output_tokens: 7, ...usage },
});
const generated = (usage: object, candidate: object = {}) => ({
  candidates: [{ content: { role: "model", parts: [{ text: "hi" }] }, finishReason: "STOP", ...candidate }],
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 7, totalTokenCount: 17, ...usage },
});
const completion = (usage: object, more: object = {}) => ({
  id: "c",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 10, completion_tokens: 7, total_tokens: 17, ...usage },
  ...more,
});

const ofResponses = (vendor: string, model: string, names: readonly string[]): Asked[] =>
  names.map((name) => ({
    vendor,
    client: "responses",
    model,
    name,
    body: { tools: [{ type: name, name }] },
    answer: response({}, times({ type: `${plain(name)}_call`, id: "i", status: "completed" })),
  }));

const ofMessages = wordsOf(MESSAGES_TOOL, "type").map(
  (name): Asked => ({
    vendor: "Anthropic",
    client: "messages",
    model: "test/messages",
    name,
    body: { tools: [{ type: name, name: plain(name) }] },
    answer: message(
      { server_tool_use: { [`${plain(name)}_requests`]: USES } },
      times({ type: "server_tool_use", id: "s", name: plain(name), input: {} }),
    ),
  }),
);

const SEARCHED = { webSearchQueries: ["a", "b", "c"] };
const GROUNDING: Readonly<Record<string, object>> = {
  googleSearch: SEARCHED,
  googleSearchRetrieval: SEARCHED,
  enterpriseWebSearch: SEARCHED,
  googleMaps: { groundingChunks: [{ maps: { uri: "u" } }] },
};
const ofGenai = [...[...GENAI_TOOL.types].flatMap(({ members }) => [...members.keys()]), "oracle"].map(
  (name): Asked => ({
    vendor: "Google",
    client: "genai",
    model: "test/genai",
    name,
    body: { tools: [{ [name]: name === "functionDeclarations" || name === "mcpServers" ? [] : {} }] },
    answer: generated({}, { groundingMetadata: GROUNDING[name] }),
  }),
);

const TIERS = [...SERVICE_TIER.words, "warp"].filter((tier) => !/^(auto|default)$/.test(tier));
const TERMS: readonly Asked[] = [
  ...TIERS.map((tier) => ({
    vendor: "OpenAI",
    client: "responses" as const,
    model: "test/responses",
    name: `service_tier ${tier}`,
    body: { service_tier: tier },
    answer: response({ service_tier: tier }),
  })),
  ...TIERS.map((tier) => ({
    vendor: "OpenAI",
    client: "chat" as const,
    model: "test/chat",
    name: `service_tier ${tier}`,
    body: { service_tier: tier },
    answer: completion({}, { service_tier: tier }),
  })),
  {
    vendor: "OpenAI",
    client: "responses",
    model: "test/responses",
    name: "prompt_cache_options 12h",
    body: { prompt_cache_options: { ttl: "12h" } },
    answer: response({ service_tier: "default" }),
  },
  ...[
    { speed: "fast" },
    { speed: "warp" },
    { inference_geo: "us" },
    { inference_geo: "mars" },
    { service_tier: "priority" },
  ].map((fields) => ({
    vendor: "Anthropic",
    client: "messages" as const,
    model: "test/messages",
    name: JSON.stringify(fields),
    body: fields,
    answer: message(fields),
  })),
  ...["flex", "priority", "deferred", "warp"].map((serviceTier) => ({
    vendor: "Google",
    client: "genai" as const,
    model: "test/genai",
    name: `serviceTier ${serviceTier}`,
    body: { serviceTier },
    answer: generated({ serviceTier }),
  })),
  ...["priority", "warp"].map((tier) => ({
    vendor: "xAI",
    client: "chat" as const,
    model: "test/x-chat",
    name: `service_tier ${tier}`,
    body: { service_tier: tier },
    answer: completion({}, { service_tier: tier }),
  })),
];

const ASKED: readonly Asked[] = [
  ...ofResponses("OpenAI", "test/responses", [...wordsOf(RESPONSES_TOOL, "type"), "hologram"]),
  ...ofMessages,
  ...ofGenai,
  ...ofResponses("xAI", "test/x-responses", [
    "web_search",
    "x_search",
    "code_interpreter",
    "file_search",
    "mcp",
    "attachment_search",
    "hologram",
  ]),
  {
    vendor: "OpenAI",
    client: "chat",
    model: "test/chat",
    name: "web_search_options",
    body: { web_search_options: {} },
    answer: completion({}),
  },
  {
    vendor: "xAI",
    client: "chat",
    model: "test/x-chat",
    name: "search_parameters",
    body: { search_parameters: { mode: "on" } },
    answer: completion({ num_sources_used: USES }),
  },
  {
    vendor: "xAI",
    client: "chat",
    model: "test/x-chat",
    name: "num_sources_used, unasked",
    body: {},
    answer: completion({ num_sources_used: USES }),
  },
  ...TERMS,
];

const BUDGET_KEY = "a-key-of-the-configuration-with-a-budget";
const TOKENS = 10 * 1_000 + 7 * 2_000;

/**
 * Decision 0083: nothing that a vendor may charge for is silently free, with a budget or without, at either base URL.
 */
export async function openUnpriced(): Promise<CheatGroup> {
  const scripted = scriptedModels(UPSTREAM_URL) as { providers: Record<string, object>; models: object[] };
  const model = (id: string, provider: string, dialect: string) => ({
    ...scripted.models[0],
    id,
    offers: [{ provider, model: "upstream-model", dialect }],
  });
  const harness = await Harness.start({
    config: {
      ...scripted,
      providers: {
        ...scripted.providers,
        "up-x": {
          kind: "x-ai",
          base_url: `${UPSTREAM_URL}/v1`,
          api_key: "upstream-secret-x",
          dialects: ["chat", "responses"],
        },
      },
      models: [
        ...scripted.models,
        model("test/responses", "up-chat", "responses"),
        model("test/x-responses", "up-x", "responses"),
        model("test/x-chat", "up-x", "chat"),
      ],
      keys: [
        { name: "tests", key: TEST_KEY },
        { name: "budget", key: BUDGET_KEY, limits: { budget_usd_total: 1_000_000 } },
      ],
    },
  });
  const doors = ["contract", "dropin"] as const;
  const keys = [
    ["a budget", BUDGET_KEY],
    ["no budget", TEST_KEY],
  ] as const;
  const cheats = ASKED.flatMap((asked) =>
    doors.flatMap((door) =>
      keys.map(
        ([limits, key]): Cheat => ({
          id: "decision 0083",
          tries: `${asked.vendor} ${asked.client}: ${asked.name}, ${limits} (${door})`,
          run: () => play(harness, asked, door, key),
        }),
      ),
    ),
  );
  return { cheats, close: () => Promise.resolve() };
}

async function play(harness: Harness, asked: Asked, door: "contract" | "dropin", key: string): Promise<Outcome> {
  const { upstream } = harness;
  const before = upstream.requests.length;
  upstream.play(upstream.json(asked.answer));
  const { client, model, body } = asked;
  const given = await harness.call(client, { door, model, key, body: { ...body } });
  const got = String(given.status);
  if (given.status === 400) {
    return upstream.requests.length > before ? { got, broken: "it was sent, and refused" } : { got };
  }
  if (given.status !== 200) return { got, broken: given.text.slice(0, 200) };
  const { cost_nano_usd: ledger, unpriced, fields, price_rule } = await harness.receipt(given);
  // At the strict base URL some fields are removed, and the receipt says so.
  const isTakenOut = fields.some(({ action }) => action === "dropped");
  const isSaid = ledger !== TOKENS || unpriced.length > 0 || isTakenOut || FREE.test(asked.name);
  const figures = `${price_rule}; unpriced: ${unpriced.join(", ") || "nothing"}`;
  if (key === BUDGET_KEY && unpriced.length > 0 && Object.keys(body).length > 0 && !price_rule.includes("unpriced")) {
    return { got, figures, broken: "a key with a budget used it without a price" };
  }
  return isSaid ? { got, figures } : { got, figures, broken: "it was free, and nothing says so" };
}
