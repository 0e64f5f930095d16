import { afterAll, describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { readConfig } from "../../app/read-config.ts";
import type { JsonObject } from "../../base/json.ts";
import { fromBifrost } from "./from-bifrost.ts";
import { fromLitellm } from "./from-litellm.ts";
import { fromNewApi } from "./from-new-api.ts";
import { type ImportDraft, reference } from "./import-draft.ts";

const folder = mkdtempSync(join(tmpdir(), "trivium-import-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const { privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});
const serviceAccount = join(folder, "account.json");
writeFileSync(
  serviceAccount,
  JSON.stringify({
    type: "service_account",
    project_id: "example",
    client_email: "a@example.test",
    private_key: privateKey,
  }),
);

/** Every variable has a value that any field takes. */
const environment = new Proxy<Record<string, string>>(
  { GOOGLE_APPLICATION_CREDENTIALS: serviceAccount },
  {
    get: (known, name) => (typeof name === "string" ? (known[name] ?? "https://set-for-this-test.example") : undefined),
  },
);

/** What `trivium check` reads. */
function checked(draft: ImportDraft) {
  const text = stringify(draft.file(), { defaultStringType: "QUOTE_DOUBLE", defaultKeyType: "PLAIN", lineWidth: 0 });
  return readConfig({ text, cwd: folder, environment });
}

/** No reference, although it looks like one. */
const DOLLARS = ["gsk_$", "{A}"].join("");

const litellm = (yaml: string) => fromLitellm(parse(yaml, { uniqueKeys: false }) as JsonObject, () => true);
const notesOf = (notes: readonly { path: string; note: string }[]) =>
  Object.fromEntries(notes.map(({ path, note }) => [path, note]));

describe("choices 18: import from LiteLLM", () => {
  test("a model at two Azure resources becomes one model with two offers", () => {
    const draft = litellm(`
model_list:
  - model_name: gpt-4o
    litellm_params: { model: azure/gpt-4o-north, api_base: https://north.openai.azure.com/, api_key: os.environ/AZURE_NORTH_KEY, api_version: "2024-10-21", rpm: 6 }
  - model_name: gpt-4o
    litellm_params: { model: azure/gpt-4o-south, api_base: https://south.openai.azure.com/, api_key: os.environ/AZURE_SOUTH_KEY, rpm: 12 }
`);
    expect(draft.file()).toEqual({
      providers: {
        "azure-openai": {
          kind: "azure-openai",
          base_url: "https://north.openai.azure.com",
          api_key: reference("AZURE_NORTH_KEY"),
          api_version: "2024-10-21",
        },
        "azure-openai-2": {
          kind: "azure-openai",
          base_url: "https://south.openai.azure.com",
          api_key: reference("AZURE_SOUTH_KEY"),
        },
      },
      models: [
        {
          id: "openai/gpt-4o",
          offers: [
            { provider: "azure-openai", model: "gpt-4o-north", weight: 6 },
            { provider: "azure-openai-2", model: "gpt-4o-south", weight: 12 },
          ],
        },
      ],
      aliases: { "gpt-4o": "openai/gpt-4o" },
    });
    expect(checked(draft).warnings).toEqual([]);
    expect(notesOf(draft.approximated)["model_list[0].litellm_params.rpm"]).toContain("not a limit");
  });

  test("the overview of its configuration: every part is imported or reported with its path", () => {
    const draft = litellm(`
model_list:
  - model_name: bedrock-claude
    litellm_params: { model: bedrock/anthropic.claude-instant-v1 }
  - model_name: claude-in-us
    litellm_params: { model: bedrock/anthropic.claude-instant-v1, aws_region_name: us-east-1 }
  - model_name: vllm-models
    litellm_params: { model: openai/facebook/opt-125m, api_base: http://127.0.0.1:4000/v1, api_key: none, rpm: 1440 }
    model_info: { version: 2 }
  - model_name: "*"
    litellm_params: { model: "*" }
litellm_settings:
  drop_params: True
  success_callback: ["langfuse"]
general_settings:
  master_key: sk-1234
  alerting: ["slack"]
`);
    const config = checked(draft);
    expect(config.providers?.map(({ name, kind, region }) => [name, kind, region])).toEqual([
      ["bedrock", "bedrock", "https://set-for-this-test.example"],
      ["bedrock-2", "bedrock", "us-east-1"],
      ["openai-compatible", "openai-compatible", undefined],
    ]);
    expect(config.aliases).toMatchObject({
      "vllm-models": "litellm/vllm-models",
      "bedrock-claude": "litellm/bedrock-claude",
    });
    const left = notesOf(draft.left);
    expect(left["model_list[3]"]).toContain("every provider");
    expect(left["model_list[2].model_info.version"]).toBe("has no counterpart");
    expect(left["litellm_settings.success_callback"]).toContain("docs/recipes/langfuse.md");
    expect(left["general_settings.master_key"]).toContain("fewer than 20 characters");
    expect(notesOf(draft.approximated)["model_list[0]"]).toContain("no price");
    expect(config.alerts.webhooks.map(({ name }) => name)).toEqual(["slack"]);
  });

  test("defaults of requests, organizations, and an invalid address", () => {
    const draft = litellm(`
model_list:
  - model_name: gpt-4-team1
    litellm_params: { model: azure/chatgpt-v-2, api_base: https://one.openai.azure.com/, api_version: "2023-05-15", azure_ad_token: eyJ0, seed: 12, max_tokens: 20 }
  - model_name: openai-gpt-4o
    litellm_params: { model: openai/gpt-4o, extra_headers: { x: y }, api_key: sk-123, organization: org-one, temperature: 0.2 }
  - model_name: mistral-7b
    litellm_params: { model: ollama/mistral, api_base: your_ollama_api_base }
`);
    const config = checked(draft);
    expect(config.providers?.map(({ kind, organization }) => [kind, organization])).toEqual([
      ["azure-openai", undefined],
      ["openai", "org-one"],
    ]);
    const left = notesOf(draft.left);
    for (const field of ["azure_ad_token", "seed", "max_tokens"])
      expect(left[`model_list[0].litellm_params.${field}`]).toBeDefined();
    expect(left["model_list[1].litellm_params.extra_headers"]).toBeDefined();
    expect(left["model_list[2].litellm_params.api_base"]).toBe("your_ollama_api_base is not a URL");
  });

  test("embeddings, at providers with and without a counterpart", () => {
    const draft = litellm(`
model_list:
  - { model_name: sagemaker-embeddings, litellm_params: { model: sagemaker/gpt-j-6b } }
  - { model_name: amazon-embeddings, litellm_params: { model: bedrock/amazon.titan-embed-text-v1 }, model_info: { mode: embedding } }
  - { model_name: text-embedding-ada-002, litellm_params: { model: text-embedding-ada-002, api_key: your-api-key-1 } }
  - { model_name: text-embedding-ada-002, litellm_params: { model: text-embedding-ada-002, api_key: your-api-key-2 } }
  - { model_name: codebert, litellm_params: { model: huggingface/microsoft/codebert-base, api_key: hf_1, api_base: https://own.endpoints.example } }
  - { model_name: local, litellm_params: { model: xinference/bge-base-en, api_base: http://127.0.0.1:9997/v1 }, model_info: { mode: embedding, input_cost_per_token: 0.0000001, output_cost_per_token: 0 } }
`);
    const config = checked(draft);
    const byId = new Map(config.models.map((model) => [model.id, model]));
    expect(byId.get("openai/text-embedding-ada-002")?.offers?.map(({ provider }) => provider)).toEqual([
      "openai",
      "openai-2",
    ]);
    expect(byId.get("litellm/amazon-embeddings")?.outputModalities).toEqual(["embeddings"]);
    expect(byId.get("litellm/local")).toMatchObject({
      outputModalities: ["embeddings"],
      pricings: { prompt: [{ value: 0.1, unit: "perMTokens" }], completion: [{ value: 0 }] },
    });
    expect(config.providers?.find(({ name }) => name === "openai-compatible")?.baseUrl).toBe(
      "https://own.endpoints.example/v1",
    );
    expect(notesOf(draft.left)["model_list[0]"]).toContain("sagemaker/gpt-j-6b");
  });

  test("load balancing: strategy, aliases, retries, cooldown and fallbacks", () => {
    const draft = litellm(`
model_list:
  - { model_name: zephyr-beta, litellm_params: { model: huggingface/HuggingFaceH4/zephyr-7b-beta, api_base: http://127.0.0.1:8001, rpm: 60, order: 2 } }
  - { model_name: zephyr-beta, litellm_params: { model: huggingface/HuggingFaceH4/zephyr-7b-beta, api_base: http://127.0.0.1:8002, rpm: 600, order: 1 } }
  - { model_name: gpt-4o, litellm_params: { model: gpt-4o, api_key: <my-openai-key>, rpm: 200 } }
litellm_settings:
  num_retries: 3
  request_timeout: 10
  fallbacks: [{ zephyr-beta: [gpt-4o] }]
  context_window_fallbacks: [{ zephyr-beta: [gpt-4o] }]
  allowed_fails: 3
  default_fallbacks: [gpt-4o]
router_settings:
  routing_strategy: latency-based-routing
  model_group_alias: { gpt-4: gpt-4o, hidden: { model: zephyr-beta, hidden: true }, gone: nothing }
  num_retries: 2
  timeout: 30
  redis_host: localhost
  cooldown_time: 30
`);
    const config = checked(draft);
    expect(draft.sections["routing"]).toEqual({
      type: "least_latency",
      max_attempts: 4,
      breaker: { failures: 4, open_ms: 30_000 },
      fallback: "openai/gpt-4o",
    });
    expect(config.aliases).toEqual({
      "zephyr-beta": "litellm/zephyr-beta",
      "gpt-4o": "openai/gpt-4o",
      "gpt-4": "openai/gpt-4o",
      hidden: "litellm/zephyr-beta",
    });
    expect(config.models[0]?.offers?.map(({ provider }) => provider)).toEqual([
      "openai-compatible-2",
      "openai-compatible",
    ]);
    const left = notesOf(draft.left);
    for (const path of [
      "litellm_settings.fallbacks",
      "litellm_settings.request_timeout",
      "router_settings.redis_host",
      "router_settings.timeout",
      "router_settings.model_group_alias.gone",
    ])
      expect(left[path]).toBeDefined();
  });

  test("credentials by name, Vertex AI, wildcards, keys and LiteLLM's database", () => {
    const draft = litellm(`
model_list:
  - { model_name: gpt-4o, litellm_params: { model: azure/gpt-4o, litellm_credential_name: shared } }
  - { model_name: lost, litellm_params: { model: openai/gpt-4o, litellm_credential_name: other } }
  - { model_name: gemini-pro, litellm_params: { model: vertex_ai/gemini-2.5-pro, vertex_project: example, vertex_location: us-central1, vertex_credentials: ${serviceAccount} } }
  - { model_name: gemini-flash, litellm_params: { model: vertex_ai/gemini-2.5-flash, vertex_project: example } }
  - { model_name: "anthropic/*", litellm_params: { model: "anthropic/*", api_key: os.environ/ANTHROPIC_API_KEY } }
credential_list:
  - credential_name: shared
    credential_values: { api_key: os.environ/AZURE_API_KEY, api_base: os.environ/AZURE_API_BASE, api_version: "2023-05-15" }
    credential_info: { description: production }
environment_variables: { REDIS_HOST: localhost }
general_settings:
  master_key: os.environ/LITELLM_MASTER_KEY
  database_url: postgresql://user:secret@db/litellm
  store_model_in_db: true
litellm_settings: { max_budget: 100, budget_duration: 30d, callbacks: [datadog, my_handler.proxy_handler], cache: true }
guardrails: []
`);
    const config = checked(draft);
    expect(config.providers?.map(({ name, baseUrl, location }) => [name, baseUrl, location])).toEqual([
      ["azure-openai", "https://set-for-this-test.example", undefined],
      ["openai", undefined, undefined],
      ["vertex", undefined, "us-central1"],
      ["vertex-2", undefined, undefined],
      ["anthropic", undefined, undefined],
    ]);
    expect(config.keys.map(({ name }) => name)).toEqual(["litellm-master"]);
    expect(config.keys[0]?.answerCache).toEqual({ ttlSeconds: 600, maxMb: 100 });
    expect(config.limits).toEqual({ budgetUsdPerMonth: 100 });
    const left = notesOf(draft.left);
    expect(left["general_settings.database_url"]).toContain("virtual keys");
    expect(JSON.stringify(draft.left)).not.toContain("secret@db");
    expect(left["environment_variables.REDIS_HOST"]).toContain("environment");
    expect(left["model_list[1].litellm_params.litellm_credential_name"]).toBe("there is no other in credential_list");
    expect(draft.left.map(({ note }) => note)).toContain(
      "datadog: send traces and metrics over OTLP: docs/recipes/datadog.md",
    );
    expect(left["guardrails"]).toBeDefined();
  });

  test.each([
    ["ttl: 3600, type: redis, host: h, password: a-secret", true, 3600, undefined],
    ["ttl: 0.2", true, 1, undefined],
    ["ttl: 99999999", true, 2_592_000, undefined],
    ["type: redis-semantic", true, undefined, "only equal requests"],
    ["mode: default_off", true, undefined, "calls that ask for it"],
    ["ttl: 60", false, undefined, "is off"],
  ])("a cache with %s", (params, isOn, ttlSeconds, note) => {
    const draft = litellm(`
general_settings: { master_key: os.environ/LITELLM_MASTER_KEY }
litellm_settings: { cache: ${isOn}, cache_params: { ${params} } }
`);
    expect(checked(draft).keys[0]?.answerCache?.ttlSeconds).toBe(ttlSeconds);
    const left = notesOf(draft.left);
    if (note === undefined) expect(notesOf(draft.approximated)["litellm_settings.cache"]).toContain("keys[0].cache");
    else expect(left["litellm_settings.cache"]).toContain(note);
    expect(left["litellm_settings.cache_params.host"] !== undefined).toBe(params.includes("host"));
    expect(JSON.stringify(draft.left)).not.toContain("a-secret");
  });

  test("a cache needs a key that is taken over", () => {
    const draft = litellm("litellm_settings: { cache: true }");
    expect(notesOf(draft.left)["litellm_settings.cache"]).toContain("set cache of keys or projects");
  });

  test("two names for one model of the catalogue get two ids, and both have its price", () => {
    const draft = litellm(`
model_list:
  - { model_name: gpt-4o, litellm_params: { model: openai/gpt-4o } }
  - { model_name: team-b, litellm_params: { model: openai/gpt-4o, api_key: os.environ/TEAM_B } }
`);
    const config = checked(draft);
    expect(config.models.map(({ id }) => id)).toEqual(["openai/gpt-4o", "litellm/team-b"]);
    expect(config.models[1]?.pricings?.prompt).toBeDefined();
    expect(config.warnings).toEqual([]);
  });

  test("odd values are reported and never thrown", () => {
    const draft = fromLitellm(
      {
        model_list: [
          null,
          7,
          {},
          { model_name: "a b", litellm_params: { model: "openai/gpt-4o", api_key: "two words" } },
          { model_name: "z", litellm_params: { model: "constructor/x" }, model_info: { mode: "toString" } },
          { model_name: "x y", litellm_params: { model: "groq/llama$x", api_key: DOLLARS } },
          { model_name: "dall-e-2", litellm_params: { model: "azure/", api_base: "https://one.openai.azure.com/" } },
        ],
        constructor: 1,
        router_settings: { routing_strategy: "constructor", model_group_alias: { a: 7 } },
        litellm_settings: null,
        general_settings: { master_key: null },
      },
      () => false,
    );
    expect(notesOf(draft.left)["model_list[3].litellm_params.api_key"]).toContain("is not a valid key");
    expect(notesOf(draft.left)["model_list[6]"]).toBe("azure/ names no model");
    const config = checked(draft);
    expect(config.providers?.[0]?.apiKey?.reveal()).toBe(DOLLARS);
    expect(config.models[0]).toMatchObject({ id: "litellm/x-y", offers: [{ model: "llama$x" }] });
  });
});

describe("choices 18: import from Bifrost and new-api", () => {
  test("Bifrost: providers, keys by provider, deployments and virtual keys", () => {
    const draft = fromBifrost(
      {
        $schema: "https://example.test/schema",
        client: { enable_logging: true },
        config_store: { enabled: true },
        providers: {
          openai: {
            keys: [
              { name: "one", value: "env.OPENAI_ONE", models: ["gpt-4o", "gpt-4o-mini"], weight: 2 },
              { name: "two", value: "env.OPENAI_TWO", models: ["gpt-4o"], weight: 1 },
            ],
            network_config: { default_request_timeout_in_seconds: 30, max_retries: 1 },
            concurrency_and_buffer_size: { concurrency: 3, buffer_size: 10 },
          },
          azure: {
            keys: [
              {
                value: "env.AZURE_KEY",
                models: ["gpt-4.1"],
                azure_key_config: {
                  endpoint: "https://one.openai.azure.com/",
                  api_version: "2025-03-01-preview",
                  deployments: { "gpt-4.1": "my-4.1" },
                },
              },
            ],
          },
          bedrock: {
            keys: [
              { bedrock_key_config: { access_key: "env.A", secret_key: "env.B", region: "us-east-1" }, models: ["*"] },
            ],
          },
          vertex: {
            keys: [
              {
                vertex_key_config: { auth_credentials: "env.VERTEX_JSON", project_id: "p", region: "global" },
                models: ["google/gemini-2.5-pro"],
              },
            ],
          },
          "vllm-local": {
            keys: [{ value: "dummy", models: ["*"] }],
            network_config: { base_url: "http://127.0.0.1:8000" },
            custom_provider_config: { base_provider_type: "openai" },
          },
          unknown: { keys: [] },
        },
        governance: {
          virtual_keys: [
            { name: "team", value: "env.VK_TEAM", is_active: true, provider_configs: [{ provider: "openai" }] },
            { name: "short", value: "sk-bf-1" },
          ],
          auth_config: { is_enabled: true },
        },
        plugins: [],
      },
      () => false,
    );
    const config = checked(draft);
    expect(config.providers?.map(({ name, kind }) => [name, kind])).toEqual([
      ["openai", "openai"],
      ["two", "openai"],
      ["azure", "azure-openai"],
      ["bedrock", "bedrock"],
      ["vllm-local", "openai-compatible"],
    ]);
    expect(config.providers?.[0]).toMatchObject({ maxConcurrent: 3, timeoutMs: { firstByte: 30_000 } });
    expect(config.providers?.[4]?.baseUrl).toBe("http://127.0.0.1:8000/v1");
    expect(
      config.models.map(({ id, offers }) => [
        id,
        offers?.map(({ provider, model, weight }) => [provider, model, weight]),
      ]),
    ).toEqual([
      [
        "openai/gpt-4o",
        [
          ["openai", "gpt-4o", 2],
          ["two", "gpt-4o", 1],
        ],
      ],
      ["openai/gpt-4o-mini", [["openai", "gpt-4o-mini", 2]]],
      ["openai/gpt-4.1", [["azure", "my-4.1", undefined]]],
    ]);
    expect(config.keys.map(({ name }) => name)).toEqual(["team"]);
    const left = notesOf(draft.left);
    for (const path of [
      "client",
      "config_store",
      "plugins",
      "providers.unknown",
      "providers.vertex.keys[0].vertex_key_config",
      "governance.virtual_keys[1]",
      "governance.auth_config",
      "providers.openai.network_config.max_retries",
    ])
      expect(left[path]).toBeDefined();
  });

  test("new-api: channels with several keys, a mapping, priorities, and those without a counterpart", () => {
    const channels = [
      {
        id: 1,
        type: 1,
        name: "official",
        key: "sk-one\nsk-two",
        models: "gpt-4o,gpt-4o-mini",
        status: 1,
        weight: 3,
        priority: 0,
        base_url: "",
      },
      {
        id: 2,
        type: 1,
        name: "relay",
        models: "gpt-4o",
        status: 1,
        base_url: "https://relay.example",
        model_mapping: '{"gpt-4o":"gpt-4o-2024"}',
        priority: 5,
      },
      { id: 3, type: 14, name: "claude", key: "sk-ant", models: "claude-sonnet-4-5", status: 1 },
      { id: 4, type: 2, name: "pictures", key: "x", models: "mj", status: 1 },
      { id: 5, type: 43, name: "off", key: "x", models: "deepseek-chat", status: 2 },
    ];
    for (const file of [channels, { data: channels }, { success: true, data: { items: channels, total: 5 } }]) {
      const draft = fromNewApi(file);
      const config = checked(draft);
      expect(config.providers?.map(({ name, kind }) => [name, kind])).toEqual([
        ["official", "openai"],
        ["official", "openai"],
        ["relay", "openai-compatible"],
        ["claude", "anthropic"],
      ]);
      expect(config.models[0]).toMatchObject({
        id: "openai/gpt-4o",
        offers: [
          { provider: "relay", model: "gpt-4o-2024" },
          { provider: "official", weight: 3 },
        ],
      });
      const left = notesOf(draft.left);
      expect(left["channels[3]"]).toContain("type 2");
      expect(left["channels[4]"]).toContain("disabled");
      expect(notesOf(draft.approximated)["channels[1].key"]).toContain("NEW_API_RELAY_KEY");
    }
  });
});
