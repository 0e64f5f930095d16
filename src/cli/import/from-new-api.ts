import { arrayAt, isObject, type JsonObject, numberOf, objectAt, parseObject, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { ImportDraft, literal } from "./import-draft.ts";

/** The numbers of channel types, and the kinds that they are here. */
const TYPES: Readonly<Record<number, string>> = {
  1: "openai",
  3: "azure-openai",
  4: "ollama",
  8: "openai-compatible",
  14: "anthropic",
  17: "qwen",
  20: "openrouter",
  24: "gemini",
  25: "moonshot",
  26: "z-ai",
  34: "cohere",
  35: "minimax",
  42: "mistral",
  43: "deepseek",
  45: "volcengine",
  48: "x-ai",
};

/** Kinds whose address ends in a version here, and does not there. */
const VERSIONED = new Set(["openai", "openai-compatible", "ollama", "openrouter", "mistral", "x-ai"]);
const ENABLED = 1;

const LEFT_FIELDS: Readonly<Record<string, string>> = {
  status_code_mapping: "has no counterpart",
  param_override: "has no counterpart",
  header_override: "has no counterpart",
  auto_ban: "see routing.breaker in the configuration reference",
  setting: "has no counterpart",
};

/**
 * Reads the channels of new-api: the response of `GET /api/channel/`, its `data`, or a list of channels. That response leaves keys out,
 * so a channel without one refers to a variable.
 */
export function fromNewApi(file: JsonObject | readonly unknown[]): ImportDraft {
  const draft = new ImportDraft("new-api");
  for (const [index, channel] of channelsIn(file).entries()) readChannel(draft, channel, `channels[${index}]`);
  draft.leave(
    "tokens",
    "users, tokens, quotas and logs are in new-api's database: create keys with `trivium keys create`",
  );
  return draft;
}

function channelsIn(file: JsonObject | readonly unknown[]): readonly unknown[] {
  if (Array.isArray(file)) return file;
  const data = (file as JsonObject)["data"];
  if (Array.isArray(data)) return data;
  const within = isObject(data) ? data : (file as JsonObject);
  return arrayAt(within, "items").length > 0 ? arrayAt(within, "items") : arrayAt(within, "channels");
}

function readChannel(draft: ImportDraft, channel: unknown, path: string): void {
  if (!isObject(channel)) {
    draft.leave(path, "is not a channel");
    return;
  }
  const type = numberOf(channel["type"]) ?? -1;
  const name = stringAt(channel, "name") ?? `channel-${type}`;
  const base = stringAt(channel, "base_url")?.replace(/\/+$/, "");
  const isElsewhere = base !== undefined && base !== "";
  const known = TYPES[type];
  // The type of OpenAI with another address means any host of that protocol.
  const kind = known === "openai" && isElsewhere ? "openai-compatible" : known;
  if (kind === undefined) {
    draft.leave(path, `${name}: the channel type ${type} has no counterpart`);
    return;
  }
  if (numberOf(channel["status"]) !== undefined && numberOf(channel["status"]) !== ENABLED) {
    draft.leave(path, `${name} is disabled`);
    return;
  }
  if (isElsewhere && !/^https?:\/\/[^\s?#]+$/i.test(base)) {
    draft.leave(`${path}.base_url`, `${base} is not a URL`);
    return;
  }
  if ((kind === "openai-compatible" || kind === "azure-openai") && !isElsewhere) {
    draft.leave(path, `${name} has no base_url`);
    return;
  }
  const keys = (stringAt(channel, "key") ?? "").split("\n").filter((key) => key.trim() !== "");
  const variable = `\${NEW_API_${name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, "_")}_KEY}`;
  const secrets = keys.length === 0 ? [variable] : keys.map((key) => literal(key.trim()));
  if (keys.length === 0) draft.approximate(`${path}.key`, `is not in the file: set ${variable.slice(2, -1)}`);
  const credentials =
    secrets.length > 1 ? { credentials: secrets.map((api_key) => ({ api_key })) } : { api_key: secrets[0] };
  const version = stringAt(channel, "other");
  const provider = draft.provider(
    withoutAbsent({
      kind,
      base_url: isElsewhere ? (VERSIONED.has(kind) && !/\/v\d+\w*$/.test(base) ? `${base}/v1` : base) : undefined,
      api_version: kind === "azure-openai" && version !== undefined && version !== "" ? version : undefined,
      ...credentials,
    }) as { kind: string },
    name,
  );
  draft.take(path, `provider ${provider}`);
  const weight = numberOf(channel["weight"]);
  const priority = numberOf(channel["priority"]) ?? 0;
  const mapping = parseObject(stringAt(channel, "model_mapping") ?? "") ?? objectAt(channel, "model_mapping") ?? {};
  for (const model of (stringAt(channel, "models") ?? "").split(",").map((one) => one.trim())) {
    if (model === "") continue;
    const upstream = typeof mapping[model] === "string" ? mapping[model] : model;
    const offer = {
      provider,
      model: literal(upstream),
      place: -priority,
      ...(weight === undefined || weight === 0 ? {} : { weight }),
    };
    draft.offer(model, offer, { path: `${path}.models`, hints: { names: [upstream] } });
  }
  for (const [field, reason] of Object.entries(LEFT_FIELDS)) {
    const value = channel[field];
    if (value !== undefined && value !== null && value !== "" && value !== "{}" && value !== 0)
      draft.leave(`${path}.${field}`, reason);
  }
}
