import { isObject, type JsonObject, numberAt, objectAt, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { AnyPriceName, Modality, ModelKind, PriceItem, Pricings } from "../model.ts";
import type { ModelPatch } from "./model-patch.ts";
import { cacheWritePrice, countIn, dayAt, rounded, type SourceList, tieredPrice } from "./source-list.ts";

/** LiteLLM's name of a vendor's own API, and the publisher of its models. Resellers' prices are not the vendors'. */
const PUBLISHERS: Readonly<Record<string, string>> = {
  anthropic: "anthropic",
  cohere: "cohere",
  cohere_chat: "cohere",
  dashscope: "qwen",
  deepseek: "deepseek",
  gemini: "google",
  minimax: "minimax",
  mistral: "mistralai",
  moonshot: "moonshotai",
  openai: "openai",
  volcengine: "bytedance",
  voyage: "voyage",
  xai: "x-ai",
  zai: "z-ai",
};

/** Vendors that also resell models of others under their own API. */
const OWN_NAMES: Readonly<Record<string, RegExp>> = {
  qwen: /^(qwen|qwq|qvq|text-embedding)/,
  bytedance: /^(doubao|seed)/,
  mistralai: /^(?!zai-|glm-|deepseek-)/,
};

const KINDS: Readonly<Record<string, ModelKind>> = {
  chat: "text",
  responses: "text",
  embedding: "embedding",
  rerank: "rerank",
  moderation: "moderation",
  audio_speech: "speech",
  audio_transcription: "transcription",
  image_generation: "image",
  image_edit: "image",
  video_generation: "video",
};

/** Their prices depend on size, quality and resolution in ways that the two lists express differently. */
const MEDIA: ReadonlySet<ModelKind | undefined> = new Set(["image", "video"]);

const PER_MILLION = 1_000_000;

/** LiteLLM's name of a price for a million of something, and ours. */
const TOKEN_PRICES: readonly [name: string, price: AnyPriceName][] = [
  ["input_cost_per_token", "prompt"],
  ["output_cost_per_token", "completion"],
  ["cache_read_input_token_cost", "input_cache_read"],
  ["output_cost_per_reasoning_token", "internal_reasoning"],
  ["input_cost_per_audio_token", "audio"],
  ["output_cost_per_audio_token", "audio_output"],
  ["input_cost_per_image_token", "image_input"],
  ["output_cost_per_image_token", "image"],
];

const cacheWrites = (publisher: string): readonly [string, AnyPriceName][] => {
  const write = cacheWritePrice(publisher);
  const usual: [string, AnyPriceName] = ["cache_creation_input_token_cost", write];
  if (write === "input_cache_write") return [usual];
  return [usual, ["cache_creation_input_token_cost_above_1hr", "input_cache_write_1_h"]];
};

/** Terms whose factor is taken where it is the same for all prices. */
const TERMS = ["priority", "flex", "ultrafast"] as const;

/** Reads `model_prices_and_context_window.json`. */
export function readLitellm(document: JsonObject): SourceList {
  const list: SourceList = { models: [], contextIsPrompt: true, skipped: {}, unread: {} };
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(document)) {
    if (!isObject(value)) continue;
    const model = readModel(name, value, document, list);
    if (typeof model === "string") countIn(list.skipped, model);
    else if (seen.has(model.id)) countIn(list.skipped, "listed twice");
    else {
      seen.add(model.id);
      list.models.push(model);
    }
  }
  return list;
}

/** The model, or why it is left out. */
function readModel(listed: string, value: JsonObject, all: JsonObject, list: SourceList): ModelPatch | string {
  const host = stringAt(value, "litellm_provider") ?? "";
  const publisher = PUBLISHERS[host];
  if (publisher === undefined) return "not a vendor's own API";
  const name = listed.startsWith(`${host}/`) ? listed.slice(host.length + 1) : listed;
  if (/[/:]/.test(name)) return "variant of another model";
  if (OWN_NAMES[publisher]?.test(name) === false) return "model of another publisher";
  if (isDated(name, listed, all)) return "dated release of a listed model";
  const kind = KINDS[stringAt(value, "mode") ?? ""];
  if (kind === undefined) return `mode ${stringAt(value, "mode") ?? "unknown"}`;
  const isMedia = MEDIA.has(kind);
  const multiples = multiplesOf(value);
  const context = numberAt(value, "max_input_tokens");
  const output = numberAt(value, "max_output_tokens");
  return withoutAbsent({
    id: `${publisher}/${name.toLowerCase()}`,
    upstream_model: name,
    kind,
    // Some of its days are the vendor's last, others only the earliest possible: nothing may end by them.
    retires_after: dayAt(value, "deprecation_date"),
    context_length: context === undefined || context < 1 ? undefined : context,
    max_output_tokens: output === undefined || output < 1 || kind !== "text" ? undefined : output,
    input_modalities: inputsOf(kind, value),
    output_modalities: outputsOf(kind),
    reasoning: value["supports_reasoning"] === true,
    rejects_sampling: value["supports_sampling_params"] === false ? true : undefined,
    prefill: flagAt(value, "supports_assistant_prefill"),
    structured_output: flagAt(value, "supports_response_schema"),
    tools_dialect: needsResponses(publisher, value) ? ("responses" as const) : undefined,
    pricings: isMedia ? undefined : pricesOf(kind, publisher, value, list.unread, multiples ?? {}),
    price_multiples: isMedia ? undefined : multiples,
  });
}

/** Whether the same list has the model without its date, as `gpt-5` and `gpt-5-2025-08-07`. */
function isDated(name: string, listed: string, all: JsonObject): boolean {
  const plain = name.replace(/-\d{4}-\d{2}-\d{2}$|-\d{8}$/, "");
  return plain !== name && isObject(all[listed.slice(0, listed.length - name.length) + plain]);
}

function needsResponses(publisher: string, value: JsonObject): boolean {
  const endpoints = value["supported_endpoints"];
  return publisher === "openai" && Array.isArray(endpoints) && endpoints.length > 0
    ? endpoints.includes("/v1/responses") && !endpoints.includes("/v1/chat/completions")
    : false;
}

const flagAt = (value: JsonObject, name: string): boolean | undefined => {
  const flag = value[name];
  return typeof flag === "boolean" ? flag : undefined;
};

function inputsOf(kind: ModelKind, value: JsonObject): Modality[] {
  if (kind === "transcription") return ["audio"];
  const extra: [string, Modality][] = [
    ["supports_vision", "image"],
    ["supports_video_input", "video"],
    ["supports_audio_input", "audio"],
    ["supports_pdf_input", "file"],
  ];
  return ["text", ...extra.filter(([flag]) => value[flag] === true).map(([, modality]) => modality)];
}

function outputsOf(kind: ModelKind): Modality[] {
  const outputs: Record<ModelKind, Modality> = {
    text: "text",
    image: "image",
    video: "video",
    embedding: "embeddings",
    rerank: "rerank",
    speech: "audio",
    transcription: "transcription",
    moderation: "moderation",
  };
  return [outputs[kind]];
}

function pricesOf(
  kind: ModelKind,
  publisher: string,
  value: JsonObject,
  unread: Record<string, number>,
  multiples: Readonly<Record<string, number>>,
): Pricings {
  const pricings: Pricings = {};
  const names = [...TOKEN_PRICES, ...cacheWrites(publisher)];
  const read = new Set<string>();
  for (const [name, price] of names) {
    const items = tieredItems(name, value, read);
    if (items !== undefined) pricings[price] = items;
  }
  // Reasoning at the price of the answer is what every model has without this.
  if (JSON.stringify(pricings.internal_reasoning) === JSON.stringify(pricings.completion))
    delete pricings.internal_reasoning;
  const single = (name: string, price: AnyPriceName, unit: PriceItem["unit"], factor = 1) => {
    const cost = numberAt(value, name);
    read.add(name);
    if (cost !== undefined && cost > 0) pricings[price] = [{ value: rounded(cost * factor), unit, currency: "USD" }];
  };
  if (kind === "speech") single("input_cost_per_character", "characters", "perMCharacters", PER_MILLION);
  if (kind === "transcription") single("input_cost_per_second", "audio", "perSecond");
  if (kind === "rerank") single("input_cost_per_query", "search_unit", "perCount");
  const search = numberAt(objectAt(value, "search_context_cost_per_query"), "search_context_size_medium");
  read.add("search_context_cost_per_query");
  if (kind === "text" && search !== undefined && search > 0)
    pricings.web_search = [{ value: search, unit: "perCount", currency: "USD" }];
  for (const [name, cost] of Object.entries(value)) {
    const term = /_(priority|flex|ultrafast|batches)$/.exec(name)?.[1];
    const isKnown = term === undefined ? read.has(name) : term in multiples;
    if (/cost|pricing/.test(name) && !isKnown && cost !== 0 && cost !== null) countIn(unread, name);
  }
  return pricings;
}

const TIER = /^_above_(\d+)k_tokens$/;

/** The price and its tiers for long prompts: `input_cost_per_token_above_272k_tokens`. */
function tieredItems(name: string, value: JsonObject, read: Set<string>): PriceItem[] | undefined {
  const base = numberAt(value, name);
  read.add(name);
  // The list also writes 0 where a vendor has no such price. Only the configuration makes something free.
  if (base === undefined || base === 0) return undefined;
  const tiers = Object.entries(value)
    .flatMap(([key, cost]) => {
      const tier = key.startsWith(name) ? TIER.exec(key.slice(name.length)) : null;
      if (tier === null || typeof cost !== "number") return [];
      read.add(key);
      return [{ above: Number(tier[1]), cost }];
    })
    .sort((one, other) => one.above - other.above);
  return tieredPrice(
    base * PER_MILLION,
    tiers.map(({ above, cost }) => ({ above, value: cost * PER_MILLION })),
  );
}

/** The factor of each term, where input and output have the same. */
function multiplesOf(value: JsonObject): Record<string, number> | undefined {
  const multiples = TERMS.flatMap((term): [string, number][] => {
    const factors = ["input_cost_per_token", "output_cost_per_token"].map((name) => {
      const [base, other] = [numberAt(value, name), numberAt(value, `${name}_${term}`)];
      return base === undefined || other === undefined || base === 0 ? undefined : rounded(other / base);
    });
    const [one, two] = factors;
    return one !== undefined && one > 0 && one === two ? [[term, one]] : [];
  });
  return multiples.length === 0 ? undefined : Object.fromEntries(multiples);
}
