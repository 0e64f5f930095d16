import { DIALECT_NAMES, type DialectName } from "../../src/canon/dialect-name.ts";
import { BillingHarness } from "./billing-harness.ts";
import { type Chunk, type Performance, words } from "./billing-host.ts";
import type { Cheat, CheatGroup } from "./cheat.ts";

/** What a host tells of an answer that truly has so many tokens. */
interface Lie {
  id: string;
  host: DialectName;
  what: string;
  tells: object;
  promptTokens?: number;
  thinkingTokens?: number;
  chunks?: readonly Chunk[];
}

const TEXT = words(1_000);
const LIES: readonly Lie[] = [
  {
    id: "H27",
    host: "chat",
    what: "all zero beside a thousand words",
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
    tells: {
      prompt_tokens: 10,
      completion_tokens: 1_000,
      total_tokens: 1_010,
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
    what: "all zero beside a thousand words",
    tells: { input_tokens: 0, output_tokens: 0 },
  },
  { id: "H27", host: "messages", what: "nothing at all", tells: {} },
  {
    id: "H27",
    host: "genai",
    what: "all zero beside a thousand words",
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
    host: "chat",
    what: "reasoning beside the completion",
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
    what: "sound in the prompt, at the price of sound",
    promptTokens: 10_000,
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
    what: "all zero beside a thousand words",
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
    tells: {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 1_000_000 },
      output_tokens: 1_000,
      total_tokens: 1_010,
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
    what: "reasoning beside the output",
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

/** H27: whatever a host tells of its usage, no less is billed than what passed through. */
export async function openUsage(): Promise<CheatGroup> {
  const harness = await BillingHarness.open();
  const cheats = LIES.flatMap(({ id, host, what, tells, promptTokens = 10, thinkingTokens = 0, chunks = TEXT }) =>
    DIALECT_NAMES.flatMap((client) =>
      [false, true].map((stream): Cheat => {
        const performance: Performance = { promptTokens, thinkingTokens, chunks, tells };
        return {
          id,
          tries: `a ${host} host tells a ${client} client${stream ? ", streaming," : ""} ${what}`,
          run: async () => {
            const purse = harness.purse(performance);
            const [url, init] = harness.call(purse, client, { model: `test/${host}`, stream });
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
