import { arrayAt, isObject, type JsonObject, numberOf, objectAt, stringAt } from "../../base/json.ts";
import { MIN_KEY_LENGTH } from "../../base/key-bounds.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { MAX_TTL_SECONDS } from "../../canon/settings/answer-cache-settings.ts";
import {
  entryOf,
  ImportDraft,
  kindTakes,
  literal,
  type ModelHints,
  perMillionTokens,
  reference,
} from "./import-draft.ts";

interface Target {
  kind: string;
  /** Where the vendor is, if the kind does not know. */
  baseUrl?: string;
  /** The variable that is read if the deployment names no key. */
  variable?: string;
  /** Appended to `api_base`. */
  path?: string;
  /** What to check, because the source does not say it. */
  doubt?: string;
}

const COMPATIBLE = "openai-compatible";

/** The first part of `litellm_params.model`. */
const PREFIXES: Readonly<Record<string, Target>> = {
  openai: { kind: "openai", variable: "OPENAI_API_KEY" },
  "text-completion-openai": { kind: "openai", variable: "OPENAI_API_KEY" },
  azure: { kind: "azure-openai", variable: "AZURE_API_KEY" },
  anthropic: { kind: "anthropic", variable: "ANTHROPIC_API_KEY" },
  gemini: { kind: "gemini", variable: "GEMINI_API_KEY" },
  vertex_ai: { kind: "vertex" },
  vertex_ai_beta: { kind: "vertex" },
  bedrock: { kind: "bedrock" },
  mistral: { kind: "mistral", variable: "MISTRAL_API_KEY" },
  groq: { kind: "groq", variable: "GROQ_API_KEY" },
  together_ai: { kind: "together", variable: "TOGETHERAI_API_KEY" },
  fireworks_ai: { kind: "fireworks", variable: "FIREWORKS_API_KEY" },
  openrouter: { kind: "openrouter", variable: "OPENROUTER_API_KEY" },
  deepseek: { kind: "deepseek", variable: "DEEPSEEK_API_KEY" },
  xai: { kind: "x-ai", variable: "XAI_API_KEY" },
  moonshot: { kind: "moonshot", variable: "MOONSHOT_API_KEY" },
  zai: { kind: "z-ai", variable: "ZAI_API_KEY" },
  dashscope: { kind: "qwen", variable: "DASHSCOPE_API_KEY" },
  minimax: { kind: "minimax", variable: "MINIMAX_API_KEY" },
  volcengine: { kind: "volcengine", variable: "VOLCENGINE_API_KEY" },
  cerebras: { kind: "cerebras", variable: "CEREBRAS_API_KEY" },
  cohere: { kind: "cohere", variable: "COHERE_API_KEY" },
  cohere_chat: { kind: "cohere", variable: "COHERE_API_KEY" },
  voyage: { kind: "voyage", variable: "VOYAGE_API_KEY" },
  ollama: { kind: "ollama", path: "/v1" },
  ollama_chat: { kind: "ollama", path: "/v1" },
  vllm: { kind: "vllm" },
  hosted_vllm: { kind: "vllm" },
  custom_openai: { kind: COMPATIBLE },
  openai_like: { kind: COMPATIBLE },
  lm_studio: { kind: COMPATIBLE },
  llamafile: { kind: COMPATIBLE },
  xinference: { kind: COMPATIBLE },
  litellm_proxy: { kind: COMPATIBLE },
  perplexity: { kind: COMPATIBLE, baseUrl: "https://api.perplexity.ai", variable: "PERPLEXITYAI_API_KEY" },
  nvidia_nim: { kind: COMPATIBLE, baseUrl: "https://integrate.api.nvidia.com/v1", variable: "NVIDIA_NIM_API_KEY" },
  deepinfra: { kind: COMPATIBLE, baseUrl: "https://api.deepinfra.com/v1/openai", variable: "DEEPINFRA_API_KEY" },
  sambanova: { kind: COMPATIBLE, baseUrl: "https://api.sambanova.ai/v1", variable: "SAMBANOVA_API_KEY" },
  huggingface: {
    kind: COMPATIBLE,
    baseUrl: "https://router.huggingface.co/v1",
    variable: "HUGGINGFACE_API_KEY",
    path: "/v1",
    doubt: "the endpoint must serve Chat Completions at this base_url",
  },
};

/** Names without a prefix. */
const BARE: readonly (readonly [pattern: RegExp, prefix: string])[] = [
  [/^(gpt-|o[1-9]|chatgpt-|text-embedding-|dall-e|tts-|whisper-|omni-moderation|sora-)/, "openai"],
  [/^claude-/, "anthropic"],
];

/** How `model_info.mode` calls what a model makes. */
const MODES: Readonly<Record<string, readonly string[]>> = {
  embedding: ["embeddings"],
  rerank: ["rerank"],
  image_generation: ["image"],
  video_generation: ["video"],
  audio_transcription: ["transcription"],
  audio_speech: ["audio"],
  moderation: ["moderation"],
};

const EVERYTHING = "matches every provider: declare those that you use under providers";
const DEFAULTS = "is a default of requests, which Trivium does not set: send it with the call";

/** Fields of `litellm_params` that are not imported. */
const LEFT_PARAMS: Readonly<Record<string, string>> = {
  timeout: "set providers.<name>.timeout_ms",
  stream_timeout: "set providers.<name>.timeout_ms",
  max_retries: "set routing.max_attempts",
  extra_headers: "Trivium cannot send configured headers to providers",
  headers: "Trivium cannot send configured headers to providers",
  azure_ad_token: "Trivium signs in to Azure with api_key",
  tenant_id: "Trivium signs in to Azure with api_key",
  client_id: "Trivium signs in to Azure with api_key",
  client_secret: "Trivium signs in to Azure with api_key",
  aws_profile_name: "set access_key_id and secret_access_key, or api_key",
  aws_role_name: "set access_key_id and secret_access_key, or api_key",
  aws_session_name: "set access_key_id and secret_access_key, or api_key",
  aws_web_identity_token: "set access_key_id and secret_access_key, or api_key",
  tags: "routing by tags has no counterpart",
  guardrails: "see guards in the configuration reference",
  api_type: "the kind of the provider implies it",
  custom_llm_provider: "the prefix of the model implies it",
  ...Object.fromEntries(
    ["temperature", "max_tokens", "max_completion_tokens", "top_p", "top_k", "seed", "stop", "stream", "n", "user"].map(
      (name) => [name, DEFAULTS],
    ),
  ),
};

const TAKEN_PARAMS = new Set([
  ...["model", "api_key", "api_base", "base_url", "api_version", "organization", "rpm", "tpm", "weight", "order"],
  ...["aws_region_name", "aws_access_key_id", "aws_secret_access_key", "aws_session_token"],
  ...["vertex_project", "vertex_location", "vertex_credentials", "max_parallel_requests", "litellm_credential_name"],
  ...["input_cost_per_token", "output_cost_per_token"],
]);
const TAKEN_INFO = new Set([
  ...["mode", "base_model", "input_cost_per_token", "output_cost_per_token", "max_input_tokens", "max_output_tokens"],
  ...["cache_read_input_token_cost", "id"],
]);

/** A value of LiteLLM's file as Trivium writes it: `os.environ/X` is a reference, everything else is literal. */
function settingOf(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  if (typeof value !== "string" || value === "") return undefined;
  const variable = /^os\.environ\/([A-Za-z_]\w*)$/.exec(value)?.[1];
  return variable === undefined ? literal(value) : reference(variable);
}

const isReference = (value: string): boolean => /^\$\{\w+\}$/.test(value);

/** Reads LiteLLM's `config.yaml`. `fileExists` tells whether a file of credentials is there. */
export function fromLitellm(file: JsonObject, fileExists: (path: string) => boolean): ImportDraft {
  const draft = new ImportDraft("litellm");
  const credentials = credentialsOf(file);
  for (const [index, entry] of arrayAt(file, "model_list").entries())
    readDeployment(draft, entry, { path: `model_list[${index}]`, credentials, fileExists });
  const routing: Writable = {};
  readRouter(draft, objectAt(file, "router_settings"), routing);
  readModule(draft, objectAt(file, "litellm_settings"), routing);
  readGeneral(draft, objectAt(file, "general_settings"));
  readCache(draft, objectAt(file, "litellm_settings"));
  if (Object.keys(routing).length > 0) draft.sections["routing"] = routing;
  for (const name of Object.keys(objectAt(file, "environment_variables") ?? {}))
    draft.leave(`environment_variables.${name}`, "set it in the environment or in the file .env");
  const known = [
    "model_list",
    "router_settings",
    "litellm_settings",
    "general_settings",
    "environment_variables",
    "credential_list",
  ];
  for (const name of Object.keys(file)) {
    if (known.includes(name)) continue;
    if (name === "guardrails") draft.leave(name, "see guards in the configuration reference");
    else if (name === "include") draft.leave(name, "import the included files one by one");
    else draft.leave(name, "has no counterpart");
  }
  return draft;
}

function credentialsOf(file: JsonObject): Map<string, JsonObject> {
  const found = arrayAt(file, "credential_list").filter(isObject);
  return new Map(
    found.map((one) => [stringAt(one, "credential_name") ?? "", objectAt(one, "credential_values") ?? {}]),
  );
}

type Writable = Record<string, unknown>;

interface Place {
  path: string;
  credentials: ReadonlyMap<string, JsonObject>;
  fileExists: (path: string) => boolean;
}

function readDeployment(draft: ImportDraft, entry: unknown, place: Place): void {
  const { path, credentials } = place;
  const group = stringAt(entry, "model_name");
  const own = objectAt(entry, "litellm_params");
  const named = stringAt(own, "litellm_credential_name");
  const params = { ...(named === undefined ? {} : credentials.get(named)), ...own };
  const written = stringAt(params, "model");
  if (group === undefined || written === undefined) {
    draft.leave(path, "has no model_name or no litellm_params.model");
    return;
  }
  if (named !== undefined && !credentials.has(named))
    draft.leave(`${path}.litellm_params.litellm_credential_name`, `there is no ${named} in credential_list`);
  const found = targetOf(written, params);
  if (found === undefined) {
    const reason = written.includes("/") ? "has no counterpart" : "has no prefix that names a provider";
    draft.leave(path, written === "*" ? EVERYTHING : `${written}: the provider ${reason}`);
    return;
  }
  const { target, model } = found;
  if (model === "") {
    draft.leave(path, `${written} names no model`);
    return;
  }
  const fields = providerFields(draft, params, target, place);
  if (fields === undefined) return;
  const provider = draft.provider(fields);
  const isWildcard = /\*/.test(group) || /\*/.test(model);
  if (isWildcard) {
    const note = `provider ${provider}: Trivium lists the models of its catalogue that this provider has; add others to models`;
    draft.approximate(path, note);
  } else {
    const weight = weightOf(draft, params, path);
    const order = numberOf(params["order"]);
    const hints = hintsOf(entry, params, model);
    draft.offer(
      group,
      { provider, model: literal(model), ...withoutAbsent({ weight, place: order }) },
      { path, hints },
    );
    draft.take(path, `${group} at provider ${provider} as ${model}`);
  }
  if (target.doubt !== undefined) draft.approximate(path, `provider ${provider}: ${target.doubt}`);
  for (const [name, value] of Object.entries(own ?? {})) {
    if (TAKEN_PARAMS.has(name)) continue;
    // Prices of other things, and fields of other providers.
    draft.leave(`${path}.litellm_params.${name}`, entryOf(LEFT_PARAMS, name) ?? `has no counterpart (${typeof value})`);
  }
  if (own?.["organization"] !== undefined && fields["organization"] === undefined)
    draft.leave(`${path}.litellm_params.organization`, "one organization for each provider can be set, as text");
  for (const name of Object.keys(objectAt(entry, "model_info") ?? {}))
    if (!TAKEN_INFO.has(name)) draft.leave(`${path}.model_info.${name}`, "has no counterpart");
}

/** The provider that a model's prefix names, and the model without it. */
function targetOf(written: string, params: JsonObject): { target: Target; model: string } | undefined {
  const slash = written.indexOf("/");
  const prefix = slash < 0 ? BARE.find(([pattern]) => pattern.test(written))?.[1] : written.slice(0, slash);
  const hasBase = settingOf(params["api_base"] ?? params["base_url"]) !== undefined;
  const target = prefix === undefined ? undefined : entryOf(PREFIXES, prefix);
  if (target === undefined) return hasBase && slash < 0 ? { target: { kind: COMPATIBLE }, model: written } : undefined;
  const model = slash < 0 ? written : written.slice(slash + 1);
  // The prefix `openai/` with another address means any host of that protocol.
  if (target.kind === "openai" && hasBase) return { target: { kind: COMPATIBLE }, model };
  return { target, model: target.kind === "bedrock" ? model.replace(/^(converse|invoke|converse_like)\//, "") : model };
}

/** The provider of a deployment; undefined if it cannot be declared, which is reported. */
function providerFields(
  draft: ImportDraft,
  params: JsonObject,
  target: Target,
  { path, fileExists }: Place,
): (JsonObject & { kind: string }) | undefined {
  const { kind, variable } = target;
  const at = `${path}.litellm_params`;
  const base = baseUrlOf(draft, params, target, at);
  if (base === "wrong") return undefined;
  const maxConcurrent = numberOf(params["max_parallel_requests"]);
  const common = withoutAbsent({
    kind,
    base_url: base,
    max_concurrent: maxConcurrent !== undefined && maxConcurrent > 0 ? Math.round(maxConcurrent) : undefined,
  });
  if (kind === "vertex") return vertexFields(draft, params, common, { at, path, fileExists });
  const given = settingOf(params["api_key"]);
  if (kind === "bedrock") {
    const region = settingOf(params["aws_region_name"]) ?? reference("AWS_REGION");
    if (given !== undefined) return { ...common, region, api_key: given };
    return {
      ...common,
      region,
      access_key_id: settingOf(params["aws_access_key_id"]) ?? reference("AWS_ACCESS_KEY_ID"),
      secret_access_key: settingOf(params["aws_secret_access_key"]) ?? reference("AWS_SECRET_ACCESS_KEY"),
      ...withoutAbsent({ session_token: settingOf(params["aws_session_token"]) }),
    };
  }
  const key = given ?? (variable === undefined ? undefined : reference(variable));
  if (key !== undefined && !/^[\x21-\x7e]+$/.test(key)) {
    draft.leave(`${at}.api_key`, "is not a valid key: it contains spaces or other characters that a key cannot have");
    return undefined;
  }
  const version = settingOf(params["api_version"]);
  const organization = typeof params["organization"] === "string" ? settingOf(params["organization"]) : undefined;
  return {
    ...common,
    ...withoutAbsent({
      api_key: key,
      api_version: kindTakes(kind, "api_version") ? version : undefined,
      organization: kindTakes(kind, "organization") ? organization : undefined,
    }),
  };
}

function baseUrlOf(draft: ImportDraft, params: JsonObject, target: Target, at: string): string | undefined | "wrong" {
  const written = settingOf(params["api_base"] ?? params["base_url"]);
  const isNeeded = target.kind === COMPATIBLE || target.kind === "azure-openai";
  if (written === undefined) {
    if (target.baseUrl !== undefined) return target.baseUrl;
    if (target.kind === "azure-openai") return reference("AZURE_API_BASE");
    if (!isNeeded) return undefined;
    draft.leave(at, "has no api_base, which this provider needs");
    return "wrong";
  }
  if (isReference(written)) return target.path === undefined ? written : `${written}${target.path}`;
  if (!/^https?:\/\/[^\s?#]+$/i.test(written) || !URL.canParse(written)) {
    draft.leave(`${at}.api_base`, `${written} is not a URL`);
    return "wrong";
  }
  const plain = written.replace(/\/+$/, "");
  // Trivium appends the version of these APIs.
  if (target.kind === "anthropic" || target.kind === "gemini") return plain.replace(/\/v1(beta)?$/, "");
  return target.path === undefined || plain.endsWith(target.path) ? plain : plain + target.path;
}

function vertexFields(
  draft: ImportDraft,
  params: JsonObject,
  common: { kind: string },
  { at, path, fileExists }: { at: string; path: string; fileExists: (path: string) => boolean },
): (JsonObject & { kind: string }) | undefined {
  const given = settingOf(params["vertex_credentials"]);
  if (given?.trimStart().startsWith("{")) {
    draft.leave(
      `${at}.vertex_credentials`,
      "contains the credentials themselves: write them to a file and import again",
    );
    return undefined;
  }
  if (given !== undefined && !isReference(given) && !fileExists(given)) {
    draft.leave(path, `the file ${given} of vertex_credentials does not exist: create it and import again`);
    return undefined;
  }
  return {
    ...common,
    credentials: given ?? reference("GOOGLE_APPLICATION_CREDENTIALS"),
    ...withoutAbsent({ project: settingOf(params["vertex_project"]), location: settingOf(params["vertex_location"]) }),
  };
}

/** LiteLLM's default strategy draws by weight, or by the limits of deployments. */
function weightOf(draft: ImportDraft, params: JsonObject, path: string): number | undefined {
  const [weight, rpm, tpm] = [params["weight"], params["rpm"], params["tpm"]].map(numberOf);
  if (rpm !== undefined || tpm !== undefined) {
    const field = rpm === undefined ? "tpm" : "rpm";
    const note =
      weight === undefined
        ? "is the weight of the offer here, not a limit: set limits on keys"
        : "is not imported: set limits on keys";
    draft.approximate(`${path}.litellm_params.${field}`, note);
  }
  return [weight, rpm, tpm].find((value) => value !== undefined && value >= 0 && value <= 1_000_000);
}

function hintsOf(entry: unknown, params: JsonObject, model: string): ModelHints {
  const info = objectAt(entry, "model_info") ?? {};
  const costOf = (name: string) => numberOf(params[name]) ?? numberOf(info[name]);
  const [input, output] = [costOf("input_cost_per_token"), costOf("output_cost_per_token")];
  const cached = costOf("cache_read_input_token_cost");
  const tokens = (name: string) => {
    const count = numberOf(info[name]);
    return count !== undefined && Number.isInteger(count) && count > 0 ? count : undefined;
  };
  const baseModel = stringAt(info, "base_model");
  return {
    names: [baseModel, baseModel?.slice(baseModel.indexOf("/") + 1), model],
    contextLength: tokens("max_input_tokens"),
    maxOutputTokens: tokens("max_output_tokens"),
    outputModalities: entryOf(MODES, stringAt(info, "mode") ?? ""),
    pricings:
      input === undefined || output === undefined
        ? undefined
        : withoutAbsent({
            prompt: perMillionTokens(input),
            completion: perMillionTokens(output),
            input_cache_read: cached === undefined ? undefined : perMillionTokens(cached),
          }),
  };
}

/** The order of LiteLLM's strategies, as far as there is one here. */
const STRATEGIES: Readonly<Record<string, { routing: JsonObject; isExact: boolean }>> = {
  "simple-shuffle": { routing: { type: "round_robin" }, isExact: true },
  "latency-based-routing": { routing: { type: "least_latency" }, isExact: true },
  "cost-based-routing": { routing: { type: "priority", primary_factor: "cost" }, isExact: true },
  "least-busy": { routing: { type: "round_robin" }, isExact: false },
  "usage-based-routing": { routing: { type: "round_robin" }, isExact: false },
  "usage-based-routing-v2": { routing: { type: "round_robin" }, isExact: false },
};

const CACHE = "set cache of keys or projects: docs/answer-cache.md";
const REDIS = "set redis to the URL of the server, if you run several instances";
const TIMEOUT = "set providers.<name>.timeout_ms, or routing.deadline_ms for whole calls";
const FALLBACKS =
  "applies to one model: send model_routing_config with the call, or set routing.fallback of a key, which names one model or provider";

const LEFT_ROUTER: Readonly<Record<string, string>> = {
  redis_host: REDIS,
  redis_port: REDIS,
  redis_password: REDIS,
  redis_url: REDIS,
  timeout: TIMEOUT,
  stream_timeout: TIMEOUT,
  fallbacks: FALLBACKS,
  context_window_fallbacks: FALLBACKS,
  content_policy_fallbacks: FALLBACKS,
  retry_policy: "every retryable error is retried, up to routing.max_attempts",
  model_group_retry_policy: "every retryable error is retried, up to routing.max_attempts",
  cache_responses: CACHE,
  enable_pre_call_checks: "Trivium always checks context lengths that it knows",
};

function readRouter(draft: ImportDraft, router: JsonObject | undefined, routing: Writable): void {
  for (const [name, value] of Object.entries(router ?? {})) {
    const path = `router_settings.${name}`;
    if (name === "model_group_alias" && isObject(value)) {
      for (const [alias, meant] of Object.entries(value)) {
        const to = typeof meant === "string" ? meant : stringAt(meant, "model");
        if (to === undefined) draft.leave(`${path}.${alias}`, "names no model");
        else {
          draft.alias(alias, to, `${path}.${alias}`);
          draft.take(`${path}.${alias}`, `alias of ${to}`);
        }
      }
    } else if (name === "routing_strategy") {
      const strategy = entryOf(STRATEGIES, String(value));
      if (strategy === undefined) draft.leave(path, `${String(value)} has no counterpart`);
      else {
        Object.assign(routing, strategy.routing);
        const note = `routing.type: ${String(strategy.routing["type"])}`;
        if (strategy.isExact) draft.take(path, note);
        else draft.approximate(path, `${note}, which does not look at current use`);
      }
    } else if (!readRetries(draft, name, value, path, routing))
      draft.leave(path, entryOf(LEFT_ROUTER, name) ?? "has no counterpart");
  }
}

/** Fields that are in both sections. */
function readRetries(draft: ImportDraft, name: string, value: unknown, path: string, routing: Writable): boolean {
  const number = numberOf(value);
  if (name === "num_retries" && number !== undefined && number >= 0) {
    routing["max_attempts"] = Math.min(100, Math.round(number) + 1);
    draft.take(path, `routing.max_attempts: ${String(routing["max_attempts"])}`);
    return true;
  }
  const breaker = objectAt(routing, "breaker") ?? {};
  if (name === "allowed_fails" && number !== undefined && number >= 0) {
    routing["breaker"] = { ...breaker, failures: Math.round(number) + 1 };
    draft.approximate(path, `routing.breaker.failures: ${Math.round(number) + 1}`);
    return true;
  }
  if (name === "cooldown_time" && number !== undefined && number > 0) {
    routing["breaker"] = { ...breaker, open_ms: Math.min(86_400_000, Math.round(number * 1000)) };
    draft.take(path, `routing.breaker.open_ms: ${Math.round(number * 1000)}`);
    return true;
  }
  if (name === "default_fallbacks" && Array.isArray(value) && typeof value[0] === "string") {
    const id = draft.ids().get(value[0]);
    if (id === undefined) draft.leave(path, `${value[0]} was not imported`);
    else {
      routing["fallback"] = id;
      if (value.length === 1) draft.take(path, `routing.fallback: ${id}`);
      else draft.approximate(path, `routing.fallback: ${id}; only one model can be set`);
    }
    return true;
  }
  return false;
}

const RECIPES: Readonly<Record<string, string>> = {
  langfuse: "send traces over OTLP: docs/recipes/langfuse.md",
  langfuse_otel: "send traces over OTLP: docs/recipes/langfuse.md",
  datadog: "send traces and metrics over OTLP: docs/recipes/datadog.md",
  datadog_llm_observability: "send traces and metrics over OTLP: docs/recipes/datadog.md",
  otel: "set telemetry.endpoint: docs/telemetry.md",
  arize_phoenix: "set telemetry.endpoint: docs/telemetry.md",
  prometheus: "GET /metrics of the Admin API: docs/telemetry.md",
  s3: "export receipts to the bucket: docs/exports.md",
  s3_v2: "export receipts to the bucket: docs/exports.md",
  gcs_bucket: "export receipts: docs/exports.md",
};

const LEFT_MODULE: Readonly<Record<string, string>> = {
  request_timeout: TIMEOUT,
  fallbacks: FALLBACKS,
  context_window_fallbacks: FALLBACKS,
  content_policy_fallbacks: FALLBACKS,
  modify_params: "Trivium adapts requests to the target, and the receipt lists what it changed",
  turn_off_message_logging: "Trivium does not store prompts unless a key has capture",
  redact_user_api_key_info: "receipts contain the id of a key, never the key",
};

function readModule(draft: ImportDraft, module: JsonObject | undefined, routing: Writable): void {
  for (const [name, value] of Object.entries(module ?? {})) {
    const path = `litellm_settings.${name}`;
    if (/^(callbacks|success_callback|failure_callback|service_callbacks?)$/.test(name)) {
      const all = Array.isArray(value) ? value : [value];
      for (const callback of all)
        draft.leave(path, `${String(callback)}: ${entryOf(RECIPES, String(callback)) ?? "has no counterpart"}`);
    } else if (name === "drop_params") {
      if (value === true) draft.take(path, "fields that a target does not know are dropped, and listed in the receipt");
      else draft.leave(path, "set strict on keys to reject requests that cannot be honoured exactly");
    } else if (name === "set_verbose" && value === true) {
      draft.sections["log"] = { level: "debug" };
      draft.take(path, "log.level: debug");
    } else if (name === "max_budget") readBudget(draft, module, path);
    else if (name === "budget_duration" || name === "cache" || name === "cache_params") continue;
    else if (!readRetries(draft, name, value, path, routing))
      draft.leave(path, entryOf(LEFT_MODULE, name) ?? "has no counterpart");
  }
}

/** Where the file names no time, and the size that it never names. */
const CACHE_DEFAULTS = { ttl_seconds: 600, max_mb: 100 };

/** LiteLLM caches for every key of its database; here it is a setting of keys, of which only the master key is taken over. */
function readCache(draft: ImportDraft, module: JsonObject | undefined): void {
  const path = "litellm_settings.cache";
  const params = objectAt(module, "cache_params");
  const type = stringAt(params, "type") ?? "local";
  const keys = draft.sections["keys"];
  if (module?.["cache"] !== true) {
    if (module?.["cache"] !== undefined || params !== undefined) draft.leave(path, "is off");
  } else if (type.endsWith("semantic")) draft.leave(path, `${type}: only equal requests can be answered from a cache`);
  else if (params?.["mode"] === "default_off") draft.leave(path, `is used by calls that ask for it. Here, ${CACHE}`);
  else if (!Array.isArray(keys)) draft.leave(path, CACHE);
  else {
    const seconds = Math.ceil(numberOf(params?.["ttl"]) ?? CACHE_DEFAULTS.ttl_seconds);
    const cache = { ...CACHE_DEFAULTS, ttl_seconds: Math.min(MAX_TTL_SECONDS, Math.max(1, seconds)) };
    draft.sections["keys"] = keys.map((key: object) => ({ ...key, cache }));
    draft.approximate(path, `keys[0].cache: ${cache.ttl_seconds} seconds, in the database. For other keys, ${CACHE}`);
  }
  for (const name of Object.keys(params ?? {}))
    if (!["type", "ttl", "mode"].includes(name)) draft.leave(`litellm_settings.cache_params.${name}`, CACHE_PARAM);
}

const CACHE_PARAM = "has no counterpart: Trivium stores cached responses in its database";

const BUDGETS: Readonly<Record<string, string>> = {
  "1d": "budget_usd_per_day",
  "24h": "budget_usd_per_day",
  "30d": "budget_usd_per_month",
};

function readBudget(draft: ImportDraft, module: JsonObject | undefined, path: string): void {
  const budget = numberOf(module?.["max_budget"]);
  const duration = stringAt(module, "budget_duration");
  const field = entryOf(BUDGETS, duration ?? "30d");
  if (budget === undefined || field === undefined) {
    draft.leave(path, "set limits, with a budget for a day or a month");
    return;
  }
  draft.sections["limits"] = { [field]: budget };
  draft.approximate(path, `limits.${field}: ${budget}; days and months are calendar days and months, in UTC`);
}

const DATABASE = "Trivium has its own database (storage), which starts empty";
const LEFT_GENERAL: Readonly<Record<string, string>> = {
  database_url: `${DATABASE}: virtual keys, teams, users, budgets and logs of LiteLLM's database are not imported. Create keys with \`trivium keys create\``,
  store_model_in_db: "models in LiteLLM's database are not imported",
  alerting_threshold: "see alerts in the configuration reference",
  custom_auth: "see auth in the configuration reference",
  enable_jwt_auth: "see auth.jwt in the configuration reference",
  litellm_jwtauth: "see auth.jwt in the configuration reference",
  proxy_batch_write_at: DATABASE,
  database_connection_pool_limit: DATABASE,
  database_connection_timeout: DATABASE,
};

function readGeneral(draft: ImportDraft, general: JsonObject | undefined): void {
  for (const [name, value] of Object.entries(general ?? {})) {
    const path = `general_settings.${name}`;
    if (name === "master_key") readMasterKey(draft, settingOf(value), path);
    else if (name === "alerting" && Array.isArray(value)) {
      for (const one of value) {
        if (one !== "slack") draft.leave(path, `${String(one)}: see alerts in the configuration reference`);
        else {
          draft.sections["alerts"] = { webhooks: [{ name: "slack", url: reference("SLACK_WEBHOOK_URL") }] };
          draft.approximate(path, "alerts.webhooks: Trivium's own alerts are sent to SLACK_WEBHOOK_URL");
        }
      }
    } else draft.leave(path, entryOf(LEFT_GENERAL, name) ?? "has no counterpart");
  }
}

function readMasterKey(draft: ImportDraft, key: string | undefined, path: string): void {
  if (key === undefined) {
    draft.leave(path, "is empty");
    return;
  }
  if (!isReference(key) && key.length < MIN_KEY_LENGTH) {
    draft.leave(path, `has fewer than ${MIN_KEY_LENGTH} characters: create a key with \`trivium keys create\``);
    return;
  }
  draft.sections["keys"] = [{ name: "litellm-master", key }];
  draft.approximate(path, "is an API key for calls. Operators use admin.secret instead");
}
