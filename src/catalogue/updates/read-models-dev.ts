import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { type AnyPriceName, MODALITIES, type Modality, type Pricings } from "../model.ts";
import type { ModelPatch } from "./model-patch.ts";
import { cacheWritePrice, countIn, dayAt, type SourceList, tieredPrice } from "./source-list.ts";

/** The list's name of a vendor's own API, and the publisher of its models. */
const PUBLISHERS: Readonly<Record<string, string>> = {
  alibaba: "qwen",
  anthropic: "anthropic",
  cohere: "cohere",
  deepseek: "deepseek",
  google: "google",
  minimax: "minimax",
  mistral: "mistralai",
  moonshotai: "moonshotai",
  openai: "openai",
  xai: "x-ai",
  zai: "z-ai",
};

/** Prices of a million tokens: the list's name, and ours. */
const PRICES: readonly [name: string, price: AnyPriceName][] = [
  ["input", "prompt"],
  ["output", "completion"],
  ["reasoning", "internal_reasoning"],
  ["cache_read", "input_cache_read"],
  ["input_audio", "audio"],
  ["output_audio", "audio_output"],
];

const TIER = /^context_over_(\d+)k$/;

/** Reads the document at https://models.dev/api.json. */
export function readModelsDev(document: JsonObject): SourceList {
  const list: SourceList = { models: [], skipped: {}, unread: {} };
  for (const [host, provider] of Object.entries(document)) {
    const models = objectAt(provider, "models") ?? {};
    const publisher = PUBLISHERS[host];
    for (const [name, value] of Object.entries(models)) {
      const model = isObject(value) ? readModel(publisher, name, value, list) : "not an object";
      if (typeof model === "string") countIn(list.skipped, model);
      else list.models.push(model);
    }
  }
  return list;
}

/** The model, or why it is left out. */
function readModel(
  publisher: string | undefined,
  name: string,
  value: JsonObject,
  list: SourceList,
): ModelPatch | string {
  if (publisher === undefined) return "not a vendor's own API";
  if (/[/:]/.test(name)) return "variant of another model";
  const output = modalitiesAt(value, "output");
  const isEmbedding = /embed/.test(name);
  if (!isEmbedding && !output.includes("text")) return `output ${output.join("+") || "unknown"}`;
  const limit = objectAt(value, "limit");
  return withoutAbsent({
    id: `${publisher}/${name.toLowerCase()}`,
    upstream_model: name,
    display_name: stringAt(value, "name"),
    kind: isEmbedding ? ("embedding" as const) : ("text" as const),
    created: dayAt(value, "release_date"),
    context_length: positiveAt(limit, "context"),
    max_output_tokens: isEmbedding ? undefined : positiveAt(limit, "output"),
    input_modalities: modalitiesAt(value, "input"),
    output_modalities: isEmbedding ? (["embeddings"] as Modality[]) : (["text"] as Modality[]),
    reasoning: value["reasoning"] === true,
    rejects_sampling: value["temperature"] === false ? true : undefined,
    structured_output: typeof value["structured_output"] === "boolean" ? value["structured_output"] : undefined,
    pricings: pricesOf(publisher, objectAt(value, "cost") ?? {}, list.unread),
  });
}

function modalitiesAt(value: JsonObject, name: "input" | "output"): Modality[] {
  const named = arrayAt(objectAt(value, "modalities"), name).map((one) => (one === "pdf" ? "file" : one));
  return MODALITIES.filter((modality) => named.includes(modality));
}

function positiveAt(value: JsonObject | undefined, name: string): number | undefined {
  const found = numberAt(value, name);
  return found === undefined || found < 1 ? undefined : found;
}

function pricesOf(publisher: string, cost: JsonObject, unread: Record<string, number>): Pricings {
  const names: readonly [string, AnyPriceName][] = [...PRICES, ["cache_write", cacheWritePrice(publisher)]];
  const tiers = Object.entries(cost).flatMap(([name, value]) => {
    const tier = TIER.exec(name);
    return tier === null || !isObject(value) ? [] : [{ above: Number(tier[1]), prices: value }];
  });
  const pricings: Pricings = {};
  for (const [name, price] of names) {
    const base = numberAt(cost, name);
    // Only the configuration makes something free.
    if (base === undefined || base === 0) continue;
    const above = tiers.flatMap(({ above, prices }) => {
      const value = numberAt(prices, name);
      return value === undefined ? [] : [{ above, value }];
    });
    pricings[price] = tieredPrice(base, above);
  }
  for (const name of Object.keys(cost)) {
    if (!TIER.test(name) && !names.some(([known]) => known === name)) countIn(unread, name);
  }
  return pricings;
}
