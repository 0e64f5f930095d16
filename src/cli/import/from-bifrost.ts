import { arrayAt, isObject, type JsonObject, numberOf, objectAt, stringAt } from "../../base/json.ts";
import { MIN_KEY_LENGTH } from "../../base/key-bounds.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { entryOf, ImportDraft, kindTakes, literal, reference } from "./import-draft.ts";

/** Bifrost's providers, and the kinds that they are here. */
const KINDS: Readonly<Record<string, string>> = {
  openai: "openai",
  anthropic: "anthropic",
  gemini: "gemini",
  vertex: "vertex",
  bedrock: "bedrock",
  azure: "azure-openai",
  mistral: "mistral",
  groq: "groq",
  cohere: "cohere",
  openrouter: "openrouter",
  xai: "x-ai",
  cerebras: "cerebras",
  ollama: "ollama",
  vllm: "vllm",
  fireworks: "fireworks",
};

/** Kinds whose address ends in a version here, and does not there. */
const VERSIONED = new Set(["openai", "openai-compatible", "ollama", "vllm"]);

/** `env.X` is a reference; everything else is literal. */
function settingOf(value: unknown): string | undefined {
  // Later versions write secrets as objects.
  const written = isObject(value) ? (stringAt(value, "env_var") ?? stringAt(value, "value")) : value;
  if (typeof written !== "string" || written === "") return undefined;
  const variable = /^env\.([A-Za-z_]\w*)$/.exec(written)?.[1];
  return variable === undefined ? literal(written) : reference(variable);
}

/** Reads Bifrost's `config.json`. `fileExists` tells whether a file of credentials is there. */
export function fromBifrost(file: JsonObject, fileExists: (path: string) => boolean): ImportDraft {
  const draft = new ImportDraft("bifrost");
  for (const [name, provider] of Object.entries(objectAt(file, "providers") ?? {}))
    readProvider(draft, name, provider, { fileExists, path: `providers.${name}` });
  readGovernance(draft, objectAt(file, "governance"));
  if (objectAt(file, "config_store")?.["enabled"] === true)
    draft.leave("config_store", "providers and keys in Bifrost's database are not imported");
  for (const name of Object.keys(file)) {
    if (["providers", "governance", "config_store", "$schema"].includes(name)) continue;
    draft.leave(name, entryOf(LEFT, name) ?? "has no counterpart");
  }
  return draft;
}

const LEFT: Readonly<Record<string, string>> = {
  client: "see server and log in the configuration reference",
  encryption_key: "Trivium creates its own key in data_dir",
  logs_store: "receipts are in storage: see ledger and exports in the configuration reference",
  vector_store: "only equal requests can be answered from a cache: docs/answer-cache.md",
  mcp: "MCP servers have no counterpart",
  plugins: "plugins have no counterpart: see guards and telemetry in the configuration reference",
};

interface Place {
  path: string;
  fileExists: (path: string) => boolean;
}

function readProvider(draft: ImportDraft, name: string, provider: unknown, { path, fileExists }: Place): void {
  const custom = objectAt(provider, "custom_provider_config");
  const network = objectAt(provider, "network_config");
  const base = settingOf(network?.["base_url"]);
  const named = entryOf(KINDS, stringAt(custom, "base_provider_type") ?? name);
  const kind = named === "openai" && custom !== undefined && base !== undefined ? "openai-compatible" : named;
  if (kind === undefined) {
    draft.leave(
      path,
      "this provider has no counterpart; if it is compatible with OpenAI, declare it with kind openai-compatible",
    );
    return;
  }
  const common = commonFields(draft, kind, provider, { path, base });
  for (const [index, key] of arrayAt(provider, "keys").entries()) {
    const at = `${path}.keys[${index}]`;
    const fields = keyFields(draft, kind, key, { path: at, fileExists });
    if (fields === undefined) continue;
    const used = draft.provider({ ...common, kind, ...fields }, index === 0 ? name : (stringAt(key, "name") ?? name));
    readModels(draft, key, { path: at, provider: used, prefix: name });
  }
  if (arrayAt(provider, "keys").length === 0) {
    if (kindTakes(kind, "api_key") && ["ollama", "vllm", "openai-compatible"].includes(kind)) {
      draft.take(path, `provider ${draft.provider({ ...common, kind }, name)}`);
    } else draft.leave(path, "has no keys");
  }
}

function commonFields(
  draft: ImportDraft,
  kind: string,
  provider: unknown,
  { path, base }: { path: string; base: string | undefined },
): JsonObject {
  const network = objectAt(provider, "network_config") ?? {};
  const concurrency = numberOf(objectAt(provider, "concurrency_and_buffer_size")?.["concurrency"]);
  const seconds = numberOf(network["default_request_timeout_in_seconds"]);
  const idle = numberOf(network["stream_idle_timeout_in_seconds"]);
  const timeouts = withoutAbsent({
    first_byte: seconds === undefined ? undefined : Math.round(seconds * 1000),
    idle: idle === undefined ? undefined : Math.round(idle * 1000),
  });
  for (const name of Object.keys(network)) {
    if (["base_url", "default_request_timeout_in_seconds", "stream_idle_timeout_in_seconds"].includes(name)) continue;
    draft.leave(
      `${path}.network_config.${name}`,
      /retr/.test(name) ? "see routing.max_attempts" : "has no counterpart",
    );
  }
  for (const name of ["proxy_config", "send_back_raw_response", "send_back_raw_request"])
    if (objectAt(provider, name) !== undefined || (provider as JsonObject)[name] === true)
      draft.leave(`${path}.${name}`, "has no counterpart");
  return withoutAbsent({
    base_url: base === undefined ? undefined : withVersion(base.replace(/\/+$/, ""), kind),
    timeout_ms: Object.keys(timeouts).length === 0 ? undefined : timeouts,
    max_concurrent: concurrency !== undefined && concurrency >= 1 ? Math.round(concurrency) : undefined,
  });
}

const withVersion = (url: string, kind: string): string =>
  VERSIONED.has(kind) && !/\/v\d+\w*$/.test(url) ? `${url}/v1` : url;

function keyFields(
  draft: ImportDraft,
  kind: string,
  key: unknown,
  { path, fileExists }: Place,
): JsonObject | undefined {
  const value = settingOf((key as JsonObject)["value"]);
  if (kind === "azure-openai") {
    const azure = objectAt(key, "azure_key_config");
    const endpoint = settingOf(azure?.["endpoint"]);
    if (endpoint === undefined || value === undefined) {
      draft.leave(path, "azure_key_config.endpoint and value are needed");
      return undefined;
    }
    return withoutAbsent({
      base_url: endpoint.replace(/\/+$/, ""),
      api_key: value,
      api_version: settingOf(azure?.["api_version"]),
    });
  }
  if (kind === "bedrock") {
    const bedrock = objectAt(key, "bedrock_key_config");
    const region = settingOf(bedrock?.["region"]) ?? reference("AWS_REGION");
    if (value !== undefined) return { region, api_key: value };
    return withoutAbsent({
      region,
      access_key_id: settingOf(bedrock?.["access_key"]) ?? reference("AWS_ACCESS_KEY_ID"),
      secret_access_key: settingOf(bedrock?.["secret_key"]) ?? reference("AWS_SECRET_ACCESS_KEY"),
      session_token: settingOf(bedrock?.["session_token"]),
    });
  }
  if (kind === "vertex") {
    const vertex = objectAt(key, "vertex_key_config");
    const given = settingOf(vertex?.["auth_credentials"]);
    if (given === undefined || !fileExists(given)) {
      const note =
        "auth_credentials contains the credentials themselves: write them to a file and declare a provider of kind vertex";
      draft.leave(`${path}.vertex_key_config`, note);
      return undefined;
    }
    return withoutAbsent({
      credentials: given,
      project: settingOf(vertex?.["project_id"]),
      location: settingOf(vertex?.["region"]),
    });
  }
  if (value === undefined && !["ollama", "vllm", "openai-compatible"].includes(kind)) {
    draft.leave(path, "has no value");
    return undefined;
  }
  return withoutAbsent({ api_key: value });
}

function readModels(
  draft: ImportDraft,
  key: unknown,
  { path, provider, prefix }: { path: string; provider: string; prefix: string },
): void {
  const weight = numberOf((key as JsonObject)["weight"]);
  const azure = objectAt(objectAt(key, "azure_key_config"), "deployments");
  const aliases = {
    ...azure,
    ...objectAt(objectAt(key, "bedrock_key_config"), "deployments"),
    ...objectAt(key, "aliases"),
  };
  const listed = arrayAt(key, "models").filter((one) => typeof one === "string");
  const names = new Set([...listed.filter((name) => name !== "*"), ...Object.keys(aliases)]);
  draft.take(path, `provider ${provider}`);
  if (names.size === 0)
    draft.approximate(
      `${path}.models`,
      `Trivium lists the models of its catalogue that ${provider} has; add others to models`,
    );
  for (const name of names) {
    const model = typeof aliases[name] === "string" ? aliases[name] : name;
    // Clients of Bifrost call provider/model.
    draft.offer(
      `${prefix}/${name}`,
      { provider, model: literal(model), ...withoutAbsent({ weight }) },
      { path: `${path}.models`, hints: { names: [name, name.slice(name.indexOf("/") + 1), model] } },
    );
  }
  for (const name of Object.keys(key as JsonObject)) {
    const known = [
      "id",
      "name",
      "value",
      "models",
      "weight",
      "aliases",
      "azure_key_config",
      "bedrock_key_config",
      "vertex_key_config",
    ];
    if (!known.includes(name)) draft.leave(`${path}.${name}`, "has no counterpart");
  }
}

function readGovernance(draft: ImportDraft, governance: JsonObject | undefined): void {
  const keys: JsonObject[] = [];
  for (const [index, virtual] of arrayAt(governance, "virtual_keys").entries()) {
    const path = `governance.virtual_keys[${index}]`;
    const value = settingOf(isObject(virtual) ? virtual["value"] : undefined);
    const name = stringAt(virtual, "name") ?? stringAt(virtual, "id") ?? `key-${index + 1}`;
    if (value === undefined) draft.leave(path, "has no value: create a key with `trivium keys create`");
    else if (!value.startsWith("${") && value.length < MIN_KEY_LENGTH)
      draft.leave(
        path,
        `its value has fewer than ${MIN_KEY_LENGTH} characters: create a key with \`trivium keys create\``,
      );
    else if ((virtual as JsonObject)["is_active"] === false) draft.leave(path, "is not active");
    else {
      keys.push({ name, key: value });
      draft.take(path, `key ${name}`);
      if (arrayAt(virtual, "provider_configs").length > 0)
        draft.leave(`${path}.provider_configs`, "set models of the key to the ids that it may call");
    }
  }
  if (keys.length > 0) draft.sections["keys"] = keys;
  for (const name of Object.keys(governance ?? {}))
    if (name !== "virtual_keys")
      draft.leave(`governance.${name}`, entryOf(LEFT_GOVERNANCE, name) ?? "set limits on keys and projects");
}

const LEFT_GOVERNANCE: Readonly<Record<string, string>> = {
  auth_config: "set admin.secret, and see admin.oidc in the configuration reference",
  routing_rules: "see routing in the configuration reference",
};
