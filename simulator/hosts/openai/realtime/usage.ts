import type { JsonObject } from "../../../json.ts";
import type { LiveFaults } from "../../../live/faults.ts";
import type { Tool } from "../../../text/prompt.ts";
import { countTokens } from "../../../text/tokens.ts";
import { type Item, type TokenCounts, tokensOf } from "./items.ts";

/** A part of the prompt of a response, with what it counts. The same content has the same key. */
export interface PromptUnit {
  key: string;
  tokens: TokenCounts;
}

/** Tokens that an item costs in addition to its content. */
const ITEM_TOKENS = 3;

export function unitsOf(instructions: string, tools: readonly Tool[], items: readonly Item[]): PromptUnit[] {
  const declared = tools.map(
    ({ name, description, schema }) => `${name} ${description} ${JSON.stringify(schema ?? {})}`,
  );
  const heads = [instructions, ...declared].map((text) => ({
    key: text,
    tokens: { text: countTokens(text), audio: 0, image: 0 },
  }));
  const units = items.map((item) => {
    const tokens = tokensOf(item);
    const counted = { ...tokens, text: tokens.text + ITEM_TOKENS };
    return { key: `${item.id} ${Object.values(counted).join(" ")}`, tokens: counted };
  });
  return [...heads, ...units];
}

function sum(units: readonly PromptUnit[]): TokenCounts {
  const total = { text: 0, audio: 0, image: 0 };
  for (const { tokens } of units) {
    total.text += tokens.text;
    total.audio += tokens.audio;
    total.image += tokens.image;
  }
  return total;
}

/** The units that the prompt before began with, too. */
export function cachedUnits(units: readonly PromptUnit[], before: readonly PromptUnit[]): PromptUnit[] {
  const differs = units.findIndex(({ key }, at) => key !== before[at]?.key);
  return differs < 0 ? [...units] : units.slice(0, differs);
}

interface Spent {
  units: readonly PromptUnit[];
  cached: readonly PromptUnit[];
  output: { text: number; audio: number };
}

/** What the response used; undefined where the fault is to say nothing. */
export function usageOf({ units, cached, output }: Spent, faults: LiveFaults): JsonObject | undefined {
  if (faults.has("no-usage")) return undefined;
  const all = (tokens: TokenCounts): number => tokens.text + tokens.audio + tokens.image;
  const [input, read] = [sum(units), sum(cached)];
  const usage: JsonObject = {
    total_tokens: all(input) + output.text + output.audio,
    input_tokens: all(input),
    output_tokens: output.text + output.audio,
    input_token_details: {
      text_tokens: input.text,
      audio_tokens: input.audio,
      image_tokens: input.image,
      cached_tokens: all(read),
      cached_tokens_details: { text_tokens: read.text, audio_tokens: read.audio, image_tokens: read.image },
    },
    output_token_details: { text_tokens: output.text, audio_tokens: output.audio },
  };
  if (faults.has("zero-usage")) return { ...usage, total_tokens: 0, input_tokens: 0, output_tokens: 0, ...NO_DETAILS };
  // Numbers that cannot be: a negative sum, and details that exceed it.
  if (faults.has("wrong-usage")) return { ...usage, total_tokens: -1, input_tokens: -5, output_tokens: "many" };
  return usage;
}

const NO_DETAILS: JsonObject = {
  input_token_details: { text_tokens: 0, audio_tokens: 0, image_tokens: 0, cached_tokens: 0 },
  output_token_details: { text_tokens: 0, audio_tokens: 0 },
};
