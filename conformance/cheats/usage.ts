import { SCRIPTED_DIALECTS, type ScriptedDialect } from "../../testing/sampled-dialects.ts";
import { BillingHarness } from "./billing-harness.ts";
import { type Chunk, type Performance, words } from "./billing-host.ts";
import type { Cheat, CheatGroup } from "./cheat.ts";

/** What a host reports for a response that truly has this many tokens. */
interface Lie {
  id: string;
  host: ScriptedDialect;
  what: string;
  tells: object;
  tellsFirst?: object;
  model?: string;
  promptPrice?: number;
  promptTokens?: number;
  thinkingTokens?: number;
  chunks?: readonly Chunk[];
}

const TEXT = words(1_000);
const price = (value: number) => ({ value, unit: "perMTokens", currency: "USD" });

/** What costs more than an ordinary prompt: audio, cache writes, and all of a long prompt. */
const DEARER_PROMPTS = {
  id: "test/dearer-prompts",
  context_length: 1_000_000,
  max_output_tokens: 8192,
  input_modalities: ["text", "audio"],
  pricings: {
    prompt: [
      { ...price(1), conditions: { prompt_tokens: { unit: "kTokens", gte: 0, lte: 200 } } },
      { ...price(3), conditions: { prompt_tokens: { unit: "kTokens", gt: 200 } } },
    ],
    completion: [price(2)],
    audio: [price(7)],
    input_cache_write_5_min: [price(5)],
  },
};
const dearerAt = (host: ScriptedDialect) => `${DEARER_PROMPTS.id}-${host}`;
const LIES: readonly Lie[] = [
  {
    id: "H27",
    host: "chat",
    what: "all zero for a thousand words",
    tells: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  },
  { id: "H27", host: "chat", what: "nothing at all", tells: {} },
  {
    id: "H27",
    host: "chat",
    what: "negative figures",
    tells: { prompt_tokens: -50, completion_tokens: -1_000, total_tokens: -1_050 },
  },
  {
    id: "H27",
    host: "chat",
    what: "more from a cache than there was",
    // Such a prompt is estimated, and the estimate is not below this.
    promptTokens: 8,
    tells: {
      prompt_tokens: 8,
      completion_tokens: 1_000,
      total_tokens: 1_008,
      prompt_tokens_details: { cached_tokens: 1_000_000 },
    },
  },
  {
    id: "H27",
    host: "chat",
    what: "figures as words",
    tells: { prompt_tokens: "10", completion_tokens: "1000", total_tokens: "1010" },
  },
  {
    id: "H27",
    host: "messages",
    what: "all zero for a thousand words",
    tells: { input_tokens: 0, output_tokens: 0 },
  },
  { id: "H27", host: "messages", what: "nothing at all", tells: {} },
  {
    id: "H27",
    host: "genai",
    what: "all zero for a thousand words",
    tells: { promptTokenCount: 0, candidatesTokenCount: 0, totalTokenCount: 0 },
  },
  { id: "H27", host: "genai", what: "nothing at all", tells: {} },
  {
    id: "H27",
    host: "messages",
    what: "a cache split of nothing under a total",
    promptTokens: 10_355,
    chunks: words(20),
    tells: {
      input_tokens: 10,
      cache_creation_input_tokens: 10_345,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
      output_tokens: 20,
    },
  },
  {
    id: "H27",
    host: "messages",
    what: "first a cache split, at last another total, of which a write is dearer",
    model: dearerAt("messages"),
    promptTokens: 10_345,
    promptPrice: 5_000,
    chunks: words(20),
    tellsFirst: {
      input_tokens: 0,
      cache_creation_input_tokens: 345,
      cache_creation: { ephemeral_5m_input_tokens: 345, ephemeral_1h_input_tokens: 0 },
      output_tokens: 1,
    },
    tells: { input_tokens: 0, cache_creation_input_tokens: 10_345, output_tokens: 20 },
  },
  ...[200_000, 200_001].map((promptTokens) => ({
    id: "H27",
    host: "genai" as const,
    what: `a prompt of ${promptTokens} tokens, above 200,000 of which all are dearer`,
    model: dearerAt("genai"),
    promptTokens,
    promptPrice: promptTokens > 200_000 ? 3_000 : 1_000,
    chunks: words(10),
    tells: { promptTokenCount: promptTokens, candidatesTokenCount: 10, totalTokenCount: promptTokens + 10 },
  })),
  {
    id: "H27",
    host: "chat",
    what: "reasoning in addition to the completion",
    promptTokens: 9,
    thinkingTokens: 232,
    chunks: words(52),
    tells: {
      prompt_tokens: 9,
      completion_tokens: 52,
      total_tokens: 293,
      completion_tokens_details: { reasoning_tokens: 232 },
    },
  },
  {
    id: "H27",
    host: "chat",
    what: "reasoning larger than the completion, and a total that leaves it out",
    promptTokens: 9,
    thinkingTokens: 232,
    chunks: words(52),
    tells: {
      prompt_tokens: 9,
      completion_tokens: 52,
      total_tokens: 61,
      completion_tokens_details: { reasoning_tokens: 232 },
    },
  },
  {
    id: "H27",
    host: "chat",
    what: "sound in the prompt, which is dearer",
    model: dearerAt("chat"),
    promptTokens: 10_000,
    promptPrice: 7_000,
    chunks: words(10),
    tells: {
      prompt_tokens: 10_000,
      completion_tokens: 10,
      total_tokens: 10_010,
      prompt_tokens_details: { audio_tokens: 10_000 },
    },
  },
  {
    id: "H27",
    host: "responses",
    what: "all zero for a thousand words",
    tells: { input_tokens: 0, output_tokens: 0, total_tokens: 0 },
  },
  { id: "H27", host: "responses", what: "nothing at all", tells: {} },
  {
    id: "H27",
    host: "responses",
    what: "negative figures",
    tells: { input_tokens: -50, output_tokens: -1_000, total_tokens: -1_050 },
  },
  {
    id: "H27",
    host: "responses",
    what: "more from a cache than there was",
    promptTokens: 8,
    tells: {
      input_tokens: 8,
      input_tokens_details: { cached_tokens: 1_000_000 },
      output_tokens: 1_000,
      total_tokens: 1_008,
    },
  },
  {
    id: "H27",
    host: "responses",
    what: "figures as words",
    tells: { input_tokens: "10", output_tokens: "1000", total_tokens: "1010" },
  },
  {
    id: "H27",
    host: "responses",
    what: "reasoning in addition to the output",
    promptTokens: 9,
    thinkingTokens: 232,
    chunks: words(52),
    tells: {
      input_tokens: 9,
      output_tokens: 52,
      output_tokens_details: { reasoning_tokens: 232 },
      total_tokens: 293,
    },
  },
  {
    id: "H27",
    host: "responses",
    what: "reasoning larger than the output, and a total that leaves it out",
    promptTokens: 9,
    thinkingTokens: 232,
    chunks: words(52),
    tells: {
      input_tokens: 9,
      output_tokens: 52,
      output_tokens_details: { reasoning_tokens: 232 },
      total_tokens: 61,
    },
  },
  {
    id: "H27",
    host: "responses",
    what: "the usage of chat",
    tells: { prompt_tokens: 10, completion_tokens: 1_000, total_tokens: 1_010 },
  },
];

/** H27: whatever usage a host reports, no less is billed than what passed through. */
export async function openUsage(): Promise<CheatGroup> {
  const models = (["chat", "messages", "genai"] as const).map((host) => ({
    ...DEARER_PROMPTS,
    id: dearerAt(host),
    offers: [{ provider: `up-${host}`, model: "upstream-model" }],
  }));
  const harness = await BillingHarness.open({ models });
  const cheats = LIES.flatMap(({ id, host, what, model = `test/${host}`, chunks = TEXT, promptTokens = 10, ...lie }) =>
    SCRIPTED_DIALECTS.flatMap((client) =>
      [false, true].map((stream): Cheat => {
        const performance: Performance = { ...lie, promptTokens, chunks };
        return {
          id,
          tries: `a ${host} host tells a ${client} client${stream ? ", streaming," : ""} ${what}`,
          run: async () => {
            const purse = harness.purse(performance);
            const [url, init] = harness.call(purse, client, { model, stream });
            const response = await fetch(url, init);
            await response.text();
            return harness.outcome(purse, String(response.status));
          },
        };
      }),
    ),
  );
  return { cheats, atOnce: true, close: () => harness.close() };
}
