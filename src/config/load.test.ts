// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the references of the configuration file
import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import type { Config } from "./config.ts";
import { ConfigError, type KnownPrices, loadConfig, type ProviderKind, tellProblem } from "./load.ts";

const folder = mkdtempSync(join(tmpdir(), "trivium-config-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const kind = (required: string[], optional: string[], dialects = ["chat"]): ProviderKind => ({
  required,
  optional,
  dialects,
  mistakes: () => [],
});
const KINDS = new Map([
  ["openai", kind(["api_key"], ["organization"])],
  ["openai-compatible", kind([], ["api_key", "dialects"], ["chat", "messages", "genai"])],
  ["anthropic", kind(["api_key"], [])],
  ["gemini", kind(["api_key"], [])],
  ["vertex", kind([], ["api_key", "project", "location", "credentials"])],
  ["bedrock", kind([], ["api_key", "region", "access_key_id", "secret_access_key"])],
  ["azure-openai", kind(["api_key"], [])],
  ["kling", kind(["access_key", "secret_key"], [])],
]);

const PRICES: KnownPrices = {
  has: (id) => id === "acme/known",
  near: (id) => (id === "acme/knwon" ? "acme/known" : undefined),
};

function load(yaml: string, environment: Record<string, string> = {}): Config {
  writeFileSync(join(folder, "trivium.yaml"), yaml);
  return loadConfig({ cwd: folder, environment, kinds: KINDS, prices: PRICES });
}

function problemsOf(yaml: string, environment: Record<string, string> = {}): string[] {
  try {
    load(yaml, environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split("\n");
    throw error;
  }
  return [];
}

const EXAMPLE = `
server:   { host: 127.0.0.1, port: 8787, public_url: http://127.0.0.1:8787, max_body_mb: 64, drain_seconds: 30 }
admin:    { host: 127.0.0.1, port: 8788, secret: \${TRIVIUM_ADMIN_SECRET} }
data_dir: ./data
storage:  sqlite:./data/trivium.db          # or postgres://user:pass@host/db
redis:    redis://127.0.0.1:6379
files:    ./data/files                      # or s3://bucket/prefix
simulator: true
providers:
  openai:     { kind: openai, api_key: \${OPENAI_API_KEY} }
  my-vllm:    { kind: openai-compatible, base_url: http://127.0.0.1:8000/v1, dialects: [chat] }
  claude:     { kind: anthropic, api_key: \${ANTHROPIC_API_KEY}, base_url: http://127.0.0.1:9001, timeout_ms: { first_byte: 60000, idle: 120000 } }
  vertex:     { kind: vertex, project: my-project, location: global, credentials: ./service-account.json }   # or api_key
  bedrock:    { kind: bedrock, region: us-east-1, access_key_id: \${AWS_ACCESS_KEY_ID}, secret_access_key: \${AWS_SECRET_ACCESS_KEY} }
  azure:      { kind: azure-openai, base_url: https://acme.openai.azure.com, api_key: \${AZURE_OPENAI_API_KEY} }
  kling:      { kind: kling, access_key: \${KLING_ACCESS_KEY}, secret_key: \${KLING_SECRET_KEY} }
models:
  - id: anthropic/claude-sonnet-4.5
    offers: [ { provider: claude, model: claude-sonnet-4-5 }, { provider: bedrock, model: anthropic.claude-sonnet-4-5-v1:0 } ]
  - id: acme/llama
    display_name: Acme Llama
    context_length: 131072
    max_output_tokens: 16384
    input_modalities: [text]
    output_modalities: [text]
    reasoning: false
    pricings: { prompt: [ { value: 0.2, unit: perMTokens, currency: USD } ], completion: [ { value: 0.6, unit: perMTokens, currency: USD } ] }
    offers: [ { provider: my-vllm, model: meta-llama/Llama-3.3-70B } ]
keys:
  - { name: ci, project: default, key: \${TRIVIUM_CI_KEY}, models: ["*"], limits: { requests_per_minute: 600, concurrent: 64, budget_usd_per_day: 25 } }
`;

const EXAMPLE_ENVIRONMENT = {
  TRIVIUM_ADMIN_SECRET: "hidden-admin",
  OPENAI_API_KEY: "hidden-openai",
  ANTHROPIC_API_KEY: "hidden-anthropic",
  AWS_ACCESS_KEY_ID: "access-key-id",
  AWS_SECRET_ACCESS_KEY: "hidden-aws",
  AZURE_OPENAI_API_KEY: "hidden-azure",
  KLING_ACCESS_KEY: "hidden-kling-access",
  KLING_SECRET_KEY: "hidden-kling-secret",
  TRIVIUM_CI_KEY: "hidden-ci",
};

describe("what loads", () => {
  test("decisions 7: the example loads whole, under the program's names", () => {
    const config = load(EXAMPLE, EXAMPLE_ENVIRONMENT);
    expect(JSON.parse(JSON.stringify(config))).toEqual({
      file: join(folder, "trivium.yaml"),
      // It has no price for the first of its models.
      warnings: [expect.objectContaining({ line: 18, column: 9 })],
      server: {
        host: "127.0.0.1",
        port: 8787,
        publicUrl: "http://127.0.0.1:8787",
        maxBodyBytes: 64 * 1024 * 1024,
        drainSeconds: 30,
      },
      admin: { host: "127.0.0.1", port: 8788, secret: "[secret]" },
      dataDir: join(folder, "data"),
      storage: `sqlite:${join(folder, "data/trivium.db")}`,
      redis: "redis://127.0.0.1:6379",
      files: join(folder, "data/files"),
      retention: { ms: 172_800_000, maxFileBytes: 1024 ** 3, maxTotalBytes: 10 * 1024 ** 3 },
      simulator: true,
      providers: [
        { name: "openai", kind: "openai", apiKey: "[secret]" },
        { name: "my-vllm", kind: "openai-compatible", baseUrl: "http://127.0.0.1:8000/v1", dialects: ["chat"] },
        {
          name: "claude",
          kind: "anthropic",
          baseUrl: "http://127.0.0.1:9001",
          apiKey: "[secret]",
          timeoutMs: { firstByte: 60000, idle: 120000 },
        },
        {
          name: "vertex",
          kind: "vertex",
          project: "my-project",
          location: "global",
          credentials: join(folder, "service-account.json"),
        },
        {
          name: "bedrock",
          kind: "bedrock",
          region: "us-east-1",
          accessKeyId: "access-key-id",
          secretAccessKey: "[secret]",
        },
        { name: "azure", kind: "azure-openai", baseUrl: "https://acme.openai.azure.com", apiKey: "[secret]" },
        { name: "kling", kind: "kling", accessKey: "[secret]", secretKey: "[secret]" },
      ],
      models: [
        {
          id: "anthropic/claude-sonnet-4.5",
          offers: [
            { provider: "claude", model: "claude-sonnet-4-5" },
            { provider: "bedrock", model: "anthropic.claude-sonnet-4-5-v1:0" },
          ],
        },
        {
          id: "acme/llama",
          displayName: "Acme Llama",
          contextLength: 131072,
          maxOutputTokens: 16384,
          inputModalities: ["text"],
          outputModalities: ["text"],
          reasoning: false,
          pricings: {
            prompt: [{ value: 0.2, unit: "perMTokens", currency: "USD" }],
            completion: [{ value: 0.6, unit: "perMTokens", currency: "USD" }],
          },
          offers: [{ provider: "my-vllm", model: "meta-llama/Llama-3.3-70B" }],
        },
      ],
      keys: [
        {
          name: "ci",
          project: "default",
          key: "[secret]",
          models: ["*"],
          limits: { requestsPerMinute: 600, concurrent: 64, budgetUsdPerDay: 25 },
        },
      ],
    });
    expect(config.providers?.[0]?.apiKey?.reveal()).toBe("hidden-openai");
    expect(config.keys[0]?.key.reveal()).toBe("hidden-ci");
    expect(config.admin.secret?.reveal()).toBe("hidden-admin");
  });

  test("JSON in YAML's place, as tools write it, loads with absolute paths kept", () => {
    const flow = (value: unknown) => JSON.stringify(value);
    const models = ["chat-001-c", "bed-117-m0"].map((id) => ({
      id: `replay/${id}`,
      display_name: `Replay ${id}`,
      context_length: 1048576,
      max_output_tokens: 131072,
      input_modalities: ["text", "image", "file", "audio", "video"],
      output_modalities: ["text"],
      reasoning: true,
      pricings: { prompt: [{ value: 0.1, unit: "perMTokens", currency: "USD" }] },
      offers: [{ provider: `p-${id}`, model: "us.anthropic.claude-v1:0" }],
    }));
    const address = "http://127.0.0.1:4567/case/chat-001";
    const config = load(
      [
        `server: ${flow({ host: "127.0.0.1", port: 4000, public_url: "http://127.0.0.1:4000" })}`,
        `admin: ${flow({ host: "127.0.0.1", port: 4001, secret: "an-admin-secret-0123456789abcdef" })}`,
        `data_dir: ${flow("/tmp/elsewhere/data")}`,
        `storage: ${flow("sqlite:/tmp/elsewhere/data/trivium.db")}`,
        `files: ${flow("/tmp/elsewhere/data/files")}`,
        "simulator: false",
        "providers:",
        `  p-chat-001-c: ${flow({ kind: "openai-compatible", base_url: `${address}/v1`, api_key: "upstream", dialects: ["chat"] })}`,
        `  p-bed-117-m0: ${flow({ kind: "bedrock", base_url: address, api_key: "upstream" })}`,
        "models:",
        ...models.map((model) => `  - ${flow(model)}`),
        "keys:",
        `  - ${flow({ name: "replay", key: "sk-trv-abc", models: ["*"], limits: { requests_per_minute: 100000, concurrent: 64 } })}`,
        "",
      ].join("\n"),
    );
    expect(config.simulator).toBe(false);
    expect(config.storage).toBe("sqlite:/tmp/elsewhere/data/trivium.db");
    expect(config.providers?.map((provider) => provider.baseUrl)).toEqual([`${address}/v1`, address]);
    expect(config.models.map((model) => model.id)).toEqual(["replay/chat-001-c", "replay/bed-117-m0"]);
    expect(config.keys[0]).toMatchObject({ project: "default", limits: { requestsPerMinute: 100000, concurrent: 64 } });
  });

  test("defaults alone hold without a file, and for an empty one; paths start at the working folder or the file's", () => {
    const bare = mkdtempSync(join(folder, "bare-"));
    const options = { cwd: bare, environment: {}, kinds: KINDS, prices: PRICES };
    const defaults = {
      warnings: [],
      server: {
        host: "127.0.0.1",
        port: 8787,
        publicUrl: "http://127.0.0.1:8787",
        maxBodyBytes: 67108864,
        drainSeconds: 30,
      },
      admin: { host: "127.0.0.1", port: 8788 },
      retention: { ms: 172_800_000, maxFileBytes: 1024 ** 3, maxTotalBytes: 10 * 1024 ** 3 },
      simulator: true,
      models: [],
      keys: [],
    };
    const places = (base: string) => ({
      dataDir: join(base, "data"),
      storage: `sqlite:${join(base, "data/trivium.db")}`,
      files: join(base, "data/files"),
    });
    expect(loadConfig(options)).toEqual({ awaitedFile: join(bare, "trivium.yaml"), ...defaults, ...places(bare) });

    const nested = join(bare, "etc");
    mkdirSync(nested);
    writeFileSync(join(nested, "gateway.yaml"), "# nothing yet\nproviders:\nkeys:\n");
    const config = loadConfig({ ...options, path: "etc/gateway.yaml" });
    expect(config).toEqual({ file: join(nested, "gateway.yaml"), ...defaults, ...places(nested) });
  });

  test("storage, files and data_dir follow each other and the file's folder", () => {
    expect(load("data_dir: /srv/t").storage).toBe("sqlite:/srv/t/trivium.db");
    expect(load("data_dir: /srv/t").files).toBe("/srv/t/files");
    expect(load("storage: sqlite:./x/y.db").storage).toBe(`sqlite:${join(folder, "x/y.db")}`);
    expect(load("storage: 'sqlite::memory:'").storage).toBe("sqlite::memory:");
    expect(load("storage: postgres://u:p@h/d\nfiles: s3://bucket/prefix")).toMatchObject({
      storage: "postgres://u:p@h/d",
      files: "s3://bucket/prefix",
    });
    expect(load("server: { host: '::1', port: 0 }").server.publicUrl).toBe("http://[::1]:0");
    expect(load("server: { public_url: https://ai.example/gate/ }").server.publicUrl).toBe("https://ai.example/gate");
  });

  test("anchors and merge keys work by YAML's rules", () => {
    const config = load(`
providers:
  one: &one { kind: anthropic, api_key: k, base_url: http://a }
  two: { <<: *one, base_url: http://b }
  three: *one
`);
    expect(config.providers?.map((provider) => provider.baseUrl)).toEqual(["http://a", "http://b", "http://a"]);
  });

  test("a key's expiry is kept as a moment in UTC", () => {
    const config = load(`
keys:
  - { name: a, key: k1, expires_at: 2027-01-31, protocols: [chat, genai] }
  - { name: b, key: k2, expires_at: "2027-01-31T12:00:00+02:00" }
`);
    expect(config.keys.map((key) => key.expiresAt)).toEqual(["2027-01-31T00:00:00.000Z", "2027-01-31T10:00:00.000Z"]);
    expect(config.keys[0]).toMatchObject({ models: ["*"], protocols: ["chat", "genai"] });
  });
});

describe("variables", () => {
  test("stand in block and flow style, alone and within text, with and without a default", () => {
    const config = load(
      `
server: { host: \${HOST:-0.0.0.0}, port: \${PORT:-9000}, max_body_mb: \${MB} }
simulator: \${SIM}
redis: redis://\${REDIS_HOST:-[::1],x}:6379
models:
  - { id: a/b, display_name: "\${A}-\${B:-two, [three]: #4}", description: 'costs $$5, not $\${A}' }
`,
      { MB: "1.5", SIM: "false", A: "one" },
    );
    expect(config.server).toMatchObject({ host: "0.0.0.0", port: 9000, maxBodyBytes: 1.5 * 1024 * 1024 });
    expect(config.simulator).toBe(false);
    expect(config.redis).toBe("redis://[::1],x:6379");
    expect(config.models[0]).toMatchObject({ displayName: "one-two, [three]: #4", description: "costs $5, not ${A}" });
  });

  test("an empty value takes the default; an optional field that is only an unset or empty variable is absent", () => {
    expect(load("admin: { host: ${H:-10.0.0.1} }", { H: "" }).admin.host).toBe("10.0.0.1");
    expect(load("data_dir: ${D}\nredis: ${R}", { D: "" })).not.toHaveProperty("redis");
    expect(load("admin: { secret: '' }").admin).not.toHaveProperty("secret");
  });

  test("docs/configuration.md, Variables: a credential whose variable is unset is a mistake, the admin secret's too", () => {
    const unset = ["trivium.yaml:1:18: admin.secret needs the environment variable S, which is not set"];
    expect(problemsOf("admin: { secret: ${S} }")).toEqual(unset);
    expect(problemsOf("admin: { secret: ${S} }", { S: "" })).toEqual(unset);
    expect(load("admin: { secret: ${S:-} }").admin).not.toHaveProperty("secret");
    expect(load("admin: { secret: ${S} }", { S: "given" }).admin.secret?.reveal()).toBe("given");
  });

  test("a value cannot inject YAML, nor another variable", () => {
    const hostile = 'x", admin: { secret: mine }, y: "\nadmin: { secret: mine }\n# ${OTHER} $$ *a &b';
    const config = load("models: [ { id: a/b, display_name: ${NAME} } ]", { NAME: hostile, OTHER: "leaked" });
    expect(config.models).toEqual([{ id: "a/b", displayName: hostile }]);
    expect(config.admin).not.toHaveProperty("secret");
  });

  test("a number in a variable stays text where the field is text", () => {
    expect(load("models: [ { id: a/b, display_name: ${N} } ]", { N: "4711" }).models[0]?.displayName).toBe("4711");
  });
});

describe("what is refused, with its place", () => {
  const provider = (fields: string) => `providers:\n  claude:\n    kind: anthropic\n    api_key: k\n    ${fields}\n`;
  const address = "an http or https address without query, fragment or credentials";
  const cases: [string, string, string[]][] = [
    [
      "an unknown field, with what was meant",
      "providers:\n  claude:\n    kind: anthropic\n    api_kee: k\n",
      [
        "trivium.yaml:2:3: providers.claude needs api_key",
        "trivium.yaml:4:5: providers.claude.api_kee is not a known field; did you mean api_key?",
      ],
    ],
    [
      "an unknown section",
      "provider: {}\n",
      ["trivium.yaml:1:1: provider is not a known field; did you mean providers?"],
    ],
    [
      "an unknown field that is near nothing",
      "server: { timeouts: 5 }",
      [
        "trivium.yaml:1:11: server.timeouts is not a known field; known here: host, port, public_url, max_body_mb, drain_seconds",
      ],
    ],
    [
      "a field of another kind",
      provider("region: us-east-1"),
      [
        "trivium.yaml:5:5: providers.claude.region is not a known field; known here: kind, base_url, timeout_ms, api_key",
      ],
    ],
    [
      "an unknown kind, with the known ones",
      "providers: { a: { kind: antropic, api_key: k } }",
      [`trivium.yaml:1:25: providers.a.kind must be one of ${[...KINDS.keys()].join(", ")}; did you mean anthropic?`],
    ],
    ["a provider without a kind", "providers:\n  a: { api_key: k }\n", ["trivium.yaml:2:3: providers.a needs kind"]],
    [
      "a provider that is not a mapping",
      "providers:\n  a: b\n",
      ["trivium.yaml:2:6: providers.a must be a mapping of fields"],
    ],
    [
      "providers as a list",
      "providers:\n  - kind: anthropic\n",
      ["trivium.yaml:2:3: providers must be a mapping of provider names"],
    ],
    [
      "a provider's name that cannot be used",
      'providers: { "a:b": { kind: anthropic, api_key: k } }',
      ["trivium.yaml:1:14: providers.a:b: a provider's name has only letters, digits, dots, dashes and underscores"],
    ],
    [
      "the simulator's name",
      "providers: { simulator: { kind: anthropic, api_key: k } }",
      ["trivium.yaml:1:14: providers.simulator: this name is the built-in simulator's"],
    ],
    [
      "S07: a base address with a query",
      provider("base_url: https://a.example/v1?key=x"),
      [`trivium.yaml:5:15: providers.claude.base_url must be ${address}`],
    ],
    [
      "S07: a base address with credentials",
      provider("base_url: https://me:secret@a.example"),
      [`trivium.yaml:5:15: providers.claude.base_url must be ${address}`],
    ],
    [
      "a base address of another scheme",
      provider("base_url: ftp://a.example"),
      [`trivium.yaml:5:15: providers.claude.base_url must be ${address}`],
    ],
    [
      "a port out of range",
      "server: { port: 70000 }",
      ["trivium.yaml:1:17: server.port must be a whole number from 0 to 65535"],
    ],
    [
      "a fraction for a count",
      "keys: [ { name: a, key: k, limits: { concurrent: 1.5 } } ]",
      ["trivium.yaml:1:50: keys[0].limits.concurrent must be a whole number, 1 or more"],
    ],
    ["text for a switch", "simulator: 'true'", ["trivium.yaml:1:12: simulator must be true or false"]],
    [
      "a number for text",
      "admin: { host: 5 }",
      ["trivium.yaml:1:16: admin.host must be text that is not empty; put it in quotes"],
    ],
    ["one value for a list", "models: 5", ["trivium.yaml:1:9: models must be a list"]],
    [
      "another store",
      "storage: mysql://h/d",
      ["trivium.yaml:1:10: storage must be sqlite:<path> or postgres://user:password@host/database"],
    ],
    [
      "a dialect that is none",
      "providers: { v: { kind: openai-compatible, dialects: [chat, mesages] } }",
      ["trivium.yaml:1:61: providers.v.dialects[1] must be one of chat, messages, genai; did you mean messages?"],
    ],
    [
      "model ids with no slash, or two",
      "models:\n  - id: llama\n  - id: a/b/c\n",
      [
        "trivium.yaml:2:9: models[0].id must be <provider>/<model_name> with exactly one slash",
        "trivium.yaml:3:9: models[1].id must be <provider>/<model_name> with exactly one slash",
      ],
    ],
    [
      "a model twice",
      "models:\n  - id: a/b\n  - id: a/b\n",
      ["trivium.yaml:3:9: models[1].id is the same as models[0].id"],
    ],
    [
      "a key's name twice, and a key's text twice",
      "keys:\n  - { name: a, key: same }\n  - { name: a, key: same }\n",
      [
        "trivium.yaml:3:13: keys[1].name is the same as keys[0].name",
        "trivium.yaml:3:21: keys[1].key is the same as keys[0].key",
      ],
    ],
    [
      "an offer of nobody's",
      `${provider("")}models:\n  - id: a/b\n    offers: [ { provider: claud, model: m } ]\n`,
      ["trivium.yaml:8:27: models[0].offers[0].provider is not a declared provider; did you mean claude?"],
    ],
    [
      "an offer of nobody's where providers come from the environment",
      "models: [ { id: a/b, offers: [ { provider: gemini, model: m }, { provider: simulator, model: m }, { provider: acme, model: m } ] } ]",
      [
        `trivium.yaml:1:111: models[0].offers[2].provider is not a declared provider; declared are ${[...KINDS.keys()].join(", ")}, simulator`,
      ],
    ],
    [
      "prices below zero, in other money, by other units, under other names",
      "models:\n  - id: a/b\n    pricings:\n      promt: []\n      prompt: [ { value: -1, unit: perToken, currency: EUR } ]\n",
      [
        "trivium.yaml:4:7: models[0].pricings.promt is not a known field; did you mean prompt?",
        "trivium.yaml:5:26: models[0].pricings.prompt[0].value must be a number, 0 or more",
        "trivium.yaml:5:36: models[0].pricings.prompt[0].unit must be one of perMTokens, perCount, perSecond; did you mean perMTokens?",
        "trivium.yaml:5:56: models[0].pricings.prompt[0].currency must be USD",
      ],
    ],
    [
      "a day that does not exist",
      "models: [ { id: a/b, created: 2026-02-30 } ]",
      ["trivium.yaml:1:31: models[0].created must be a day written as YYYY-MM-DD"],
    ],
    [
      "a provider's credential from a variable that is not set",
      "providers: { a: { kind: vertex, api_key: ${VERTEX_KEY} } }",
      ["trivium.yaml:1:42: providers.a.api_key needs the environment variable VERTEX_KEY, which is not set"],
    ],
    [
      "a static key from a variable that is not set",
      "keys: [ { name: ci, key: ${CI_KEY} } ]",
      ["trivium.yaml:1:26: keys[0].key needs the environment variable CI_KEY, which is not set"],
    ],
    [
      "half a value",
      "data_dir: ${HOME_OF_DATA}/trivium",
      [
        "trivium.yaml:1:11: data_dir needs the environment variable HOME_OF_DATA, which is not set; write ${HOME_OF_DATA:-} if it may be empty",
      ],
    ],
    [
      "a reference that is none",
      "data_dir: ${not a name}",
      ["trivium.yaml:1:11: data_dir has a ${ that is no variable; write ${NAME}, ${NAME:-default}, or $$ for a $"],
    ],
    ["the same field twice", "simulator: true\nsimulator: false\n", ["trivium.yaml:2:1: this field is written twice"]],
    [
      "a second document",
      "simulator: true\n---\nsimulator: false\n",
      ["trivium.yaml:2:1: a second document begins here; the file holds one"],
    ],
    ["a file that is a list", "- a\n", ["trivium.yaml:1:1: the file must be a mapping of fields"]],
    ["an alias of nothing", "redis: *nowhere\n", ["trivium.yaml:1:8: there is no anchor &nowhere above this alias"]],
  ];
  test.each(cases)("%s", (_, yaml, expected) => {
    expect(problemsOf(yaml)).toEqual(expected);
  });

  test("all mistakes are told at once, in the file's order, however many", () => {
    const fields = Array.from({ length: 40 }, (_, index) => `unheard_of_${index}: 1`);
    const problems = problemsOf(`server: { port: x }\n${fields.join("\n")}\nkeys: 5\n`);
    expect(problems.map((problem) => Number(problem.split(":")[1]))).toEqual(
      Array.from({ length: 42 }, (_, line) => line + 1),
    );
  });

  test("what no field of a provider shows is told of all of them, at their names, beside the other mistakes", () => {
    const kinds = new Map(KINDS);
    const lacking = { ...kind([], ["api_key", "credentials"]), mistakes: () => ["one is needed", "so is two"] };
    kinds.set("lacking", lacking);
    kinds.set("resolving", { ...lacking, mistakes: ({ credentials }) => [`${credentials}: there is no such file`] });
    const file = join(folder, "lacking.yaml");
    writeFileSync(
      file,
      `providers:
  first: { kind: lacking }
  second: { kind: resolving, credentials: keys/account.json }
  third: { kind: lacking, api_kee: x }
simulater: true
`,
    );
    expect(() => loadConfig({ path: file, cwd: folder, environment: {}, kinds, prices: PRICES })).toThrow(
      `lacking.yaml:2:3: providers.first: one is needed
lacking.yaml:2:3: providers.first: so is two
lacking.yaml:3:3: providers.second: ${join(folder, "keys/account.json")}: there is no such file
lacking.yaml:4:27: providers.third.api_kee is not a known field; did you mean api_key?
lacking.yaml:5:1: simulater is not a known field; did you mean simulator?`,
    );
  });

  test("H25: a bound that a start would hold a key to is told by a check, at its place", () => {
    const key = (fields: string) => problemsOf(`keys:\n  - { name: a, ${fields} }\n`);
    for (const budget of ["budget_usd_per_day", "budget_usd_per_month", "budget_usd_total"]) {
      expect(key(`key: k, limits: { ${budget}: 9000000 }`)).toEqual([]);
      const [problem] = key(`key: k, limits: { ${budget}: 9000000.5 }`);
      expect(problem).toMatch(
        new RegExp(`^trivium.yaml:2:\\d+: keys\\[0\\].limits.${budget} must be a number from 0 to 9000000$`),
      );
    }
    expect(key(`key: ${"k".repeat(512)}`)).toEqual([]);
    expect(key(`key: ${"k".repeat(513)}`)).toEqual([
      "trivium.yaml:2:21: keys[0].key must be up to 512 visible ASCII characters without spaces",
    ]);
  });

  test("two listeners on one address are told, a default among them too", () => {
    const message = "server.port and admin.port are the same on one host; each needs its own";
    expect(problemsOf("server: { port: 9000 }\nadmin: { port: 9000 }\n")).toEqual([`trivium.yaml:2:16: ${message}`]);
    expect(problemsOf("server: { port: 8788 }\n")).toEqual([`trivium.yaml:1:17: ${message}`]);
    expect(problemsOf("server: { port: 8788 }\nadmin: { secret: s }\n")).toEqual([`trivium.yaml:1:17: ${message}`]);
    expect(problemsOf("server: { port: 0 }\nadmin: { port: 0 }\n")).toEqual([]);
    expect(problemsOf('server: { port: 9000 }\nadmin: { host: "::1", port: 9000 }\n')).toEqual([]);
  });

  test("anchors that contain or multiply themselves end in a message", () => {
    const message = "aliases unfold here to more than 500000 values, or deeper than 32";
    expect(problemsOf("models: &m [ *m, *m ]\n")).toEqual([`trivium.yaml:1:12: ${message}`]);
    const levels = Array.from({ length: 9 }, (_, level) => {
      const item = level === 0 ? "x" : `*l${level - 1}`;
      return `  - &l${level} [${Array(10).fill(item)}]`;
    });
    expect(problemsOf(`models:\n${levels.join("\n")}\n`)).toEqual([expect.stringContaining(message)]);
  });

  test("a file that was asked for must be there", () => {
    const options = { path: "nowhere.yaml", cwd: folder, environment: {}, kinds: KINDS, prices: PRICES };
    expect(() => loadConfig(options)).toThrow("nowhere.yaml:1:1: there is no such file");
    const elsewhere = { ...options, cwd: join(folder, "bare"), path: join(folder, "nowhere.yaml") };
    expect(() => loadConfig(elsewhere)).toThrow(`${join(folder, "nowhere.yaml")}:1:1: there is no such file`);
  });
});

test("docs/configuration.md, Prices: a model that nothing gives a price is a warning with its place, unless it is said to be free", () => {
  const price = "pricings: { prompt: [{ value: 1, unit: perMTokens, currency: USD }] }";
  const warningsOf = (...models: string[]) =>
    load(`models:\n${models.map((model) => `  - { ${model} }\n`).join("")}`).warnings.map(tellProblem);
  const told = "has no price: its calls cost 0 and count against no budget";
  const right = "write its pricings, or pricings: {} where it is free";
  expect(
    warningsOf("id: acme/known", "id: acme/knwon", "id: acme/other, offers: [{ provider: simulator, model: m }]"),
  ).toEqual([
    `trivium.yaml:3:11: models[1] ${told}; did you mean acme/known? Else ${right}`,
    `trivium.yaml:4:11: models[2] ${told}; ${right}`,
  ]);
  const offer = (fields: string) => `{ provider: simulator, model: m, ${fields} }`;
  expect(
    warningsOf(
      `id: acme/a, ${price}`,
      "id: acme/b, pricings: {}",
      `id: acme/c, offers: [${offer(price)}, ${offer("pricings: {}")}]`,
    ),
  ).toEqual([]);
  expect(warningsOf(`id: acme/d, offers: [${offer(price)}, ${offer("weight: 1")}]`)).toHaveLength(1);
});

describe("S10: no secret is shown", () => {
  test("in a printed configuration, addresses with passwords included", () => {
    const yaml = EXAMPLE.replace(
      "sqlite:./data/trivium.db",
      "postgres://me:hidden-p@ss@h/d?password=hidden-too",
    ).replace("redis://127", "redis://:hidden-redis@127");
    const config = load(yaml, EXAMPLE_ENVIRONMENT);
    for (const text of [
      JSON.stringify({ config }),
      inspect(config, { depth: 9 }),
      Bun.inspect({ config }),
      `${config}`,
    ]) {
      expect(text).not.toContain("hidden");
    }
    expect(inspect(config)).toContain("postgres://[secret]@h/d");
    expect(config.storage).toBe("postgres://me:hidden-p@ss@h/d?password=hidden-too");
  });

  test("in the message about a mistake at or beside it", () => {
    const mistakes = [
      "providers: { a: { kind: anthropic, api_key: 'hidden with spaces' } }",
      "providers: { a: { kind: anthropic, api_key: [hidden] } }",
      "providers: { a: { kind: anthropic, api_key: 'a' hidden } }",
      "providers: { a: { kind: anthropic } } hidden: x",
      "keys: [ { name: a, key: 'hidden key' } ]\n  hidden",
      'admin: { secret: "hidden',
      "admin:\n  secret: | hidden\n    x",
      "storage: mysql://me:hidden@h/d",
      "providers: { a: { kind: anthropic, api_key: k, base_url: http://u:hidden@h } }",
    ];
    for (const yaml of mistakes) {
      const problems = problemsOf(yaml);
      expect(problems.length).toBeGreaterThan(0);
      expect(problems.join("\n").replaceAll("hidden is not a known field", "")).not.toContain("hidden");
    }
    const [problem] = problemsOf("providers: { a: { kind: anthropic, api_key: ${K} } }", { K: "hidden with spaces" });
    expect(problem).toContain("providers.a.api_key must be visible ASCII characters without spaces");
    expect(problem).not.toContain("hidden");
  });
});
