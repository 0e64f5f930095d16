import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Page } from "../../scripts/markdown-page.ts";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import { builtInModels } from "../../src/catalogue/built-in-models.ts";
import { clientSections } from "../support/client-harness.ts";
import { TRIVIUM } from "../support/program.ts";
import { startTestGateway } from "../support/test-gateway.ts";
import { type Reader, ROOT } from "./reader.ts";
import { ANSWER, type PageOptions, testPage } from "./test-page.ts";

const FOLDER = "docs/clients";
const page = (name: string) => new Page(join(FOLDER, `${name}.md`));

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({ tokenDelayMs: 0 });
});
afterAll(() => simulator.stop());

type Wire = "chat" | "messages" | "genai" | "responses";

/** What a client receives. */
interface Setting {
  wire: Wire;
  baseUrl: string;
  key: string;
  model: string;
}

/** How a client of that protocol builds URLs from its base URL and the model. */
const REQUESTS: Readonly<
  Record<Wire, (setting: Setting) => { url: string; headers: Record<string, string>; body: object }>
> = {
  chat: ({ baseUrl, key, model }) => ({
    url: `${baseUrl}/chat/completions`,
    headers: { authorization: `Bearer ${key}` },
    body: { model, max_tokens: 200, messages: [{ role: "user", content: "Hello, who are you?" }] },
  }),
  messages: ({ baseUrl, key, model }) => ({
    url: `${baseUrl}/v1/messages`,
    headers: { authorization: `Bearer ${key}`, "anthropic-version": "2023-06-01" },
    body: { model, max_tokens: 200, messages: [{ role: "user", content: "Hello, who are you?" }] },
  }),
  responses: ({ baseUrl, key, model }) => ({
    url: `${baseUrl}/responses`,
    headers: { authorization: `Bearer ${key}` },
    body: { model, input: "Hello, who are you?" },
  }),
  genai: ({ baseUrl, key, model }) => ({
    url: `${baseUrl}/v1beta/models/${model}:generateContent`,
    headers: { "x-goog-api-key": key },
    body: { contents: [{ role: "user", parts: [{ text: "Hello, who are you?" }] }] },
  }),
};

async function expectAnswer(setting: Setting): Promise<void> {
  const { url, headers, body } = REQUESTS[setting.wire](setting);
  const answer = await fetch(url, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect({ url, model: setting.model, status: answer.status, text: await answer.text() }).toMatchObject({
    status: 200,
    text: expect.stringMatching(ANSWER),
  });
}

/** What clients read from their environment. */
function settingsIn(set: Readonly<Record<string, string | undefined>>): Setting[] {
  const found: Setting[] = [];
  const add = (wire: Wire, baseUrl: string | undefined, key: string | undefined, models: (string | undefined)[]) => {
    for (const model of models)
      if (baseUrl !== undefined && model !== undefined) found.push({ wire, baseUrl, key: key ?? "", model });
  };
  const claude = [set["ANTHROPIC_MODEL"], set["ANTHROPIC_DEFAULT_HAIKU_MODEL"]];
  add("messages", set["ANTHROPIC_BASE_URL"], set["ANTHROPIC_AUTH_TOKEN"], claude);
  add("genai", set["GOOGLE_GEMINI_BASE_URL"], set["GEMINI_API_KEY"], [set["GEMINI_MODEL"]]);
  // aider interprets the first part of a model's name itself.
  const chat = [set["OPENAI_MODEL"], set["AIDER_MODEL"]?.replace(/^openai\//, "")];
  add("chat", set["OPENAI_BASE_URL"] ?? set["OPENAI_API_BASE"], set["OPENAI_API_KEY"], chat);
  add("chat", set["OPENAI_API_BASE_URL"], set["OPENAI_API_KEY"], ["openai/gpt-5.4-mini"]);
  return found;
}

/** The variables of a page make URLs that work, and `bin/trivium env` prints the same. */
const expectSettings = (client?: string) => async (_output: string, reader: Reader) => {
  const set = await reader.variables();
  const settings = settingsIn(set);
  expect(settings.length).toBeGreaterThan(0);
  for (const setting of settings) await expectAnswer(setting);
  if (client === undefined) return;
  await reader.paste(`eval "$(bin/trivium env ${client} --model gpt-5.4)"`);
  const isSame = ([name]: [string, string]) => !name.endsWith("MODEL");
  expect(Object.entries(await reader.variables()).filter(isSame)).toEqual(Object.entries(set).filter(isSame));
};

/** What is expected of the blocks of each page. */
const EXPECTED: Readonly<Record<string, PageOptions["expected"]>> = {
  aider: { export: expectSettings("aider") },
  "claude-code": { export: expectSettings("claude-code") },
  "gemini-cli": {
    export: expectSettings("gemini-cli"),
    json: (code) => expect(JSON.parse(code)).toEqual({ security: { auth: { selectedType: "gemini-api-key" } } }),
  },
  "qwen-code": { export: expectSettings("qwen-code") },
  "open-webui": { export: expectSettings() },
  curl: {
    '"stream":true': "data: [DONE]\n\n",
    "/v1/messages": ANSWER,
    generateContent: ANSWER,
    '/models"': '"id":"sim/standard"',
  },
  "ai-sdk": {
    createOpenAICompatible: ANSWER,
    "createOpenAI }": ANSWER,
    createAnthropic: ANSWER,
    createGoogleGenerativeAI: ANSWER,
  },
  langchain: { ChatOpenAI: ANSWER },
  opencode: {
    json: async (code, { gateway: { key } }) => {
      const { provider, small_model } = JSON.parse(code) as {
        provider: { trivium: { options: { baseURL: string }; models: object } };
        small_model: string;
      };
      const { options, models } = provider.trivium;
      const names = Object.keys(models);
      expect(names.length).toBe(2);
      for (const model of names) await expectAnswer({ wire: "chat", baseUrl: options.baseURL, key, model });
      for (const name of [small_model, /--model (\S+)/.exec(page("opencode").text)?.[1] ?? ""])
        expect(names).toContain(name.replace(/^trivium\//, ""));
      // With the other package the base URL is the same, and the path begins after it.
      expect(page("opencode").text).toContain('"npm": "@ai-sdk/anthropic"');
      const baseUrl = options.baseURL.replace(/\/v1$/, "");
      await expectAnswer({ wire: "messages", baseUrl, key, model: names[1] ?? "" });
    },
  },
  codex: {
    toml: async (code, { gateway: { key } }) => {
      const file = Bun.TOML.parse(code) as {
        model: string;
        model_provider: string;
        model_providers: Record<string, { base_url: string; env_key: string; wire_api: string }>;
      };
      const provider = file.model_providers[file.model_provider];
      expect(provider).toMatchObject({ env_key: "TRIVIUM_API_KEY", wire_api: "responses" });
      for (const model of [file.model, /--model (\S+)/.exec(page("codex").text)?.[1] ?? ""])
        await expectAnswer({ wire: "responses", baseUrl: provider?.base_url ?? "", key, model });
    },
  },
  continue: {
    "yaml client": async (code) => {
      const { models } = Bun.YAML.parse(code) as {
        models: { provider: string; model: string; apiBase: string; apiKey: string }[];
      };
      expect(models.map(({ provider }) => provider)).toEqual(["openai"]);
      for (const { apiBase, apiKey, model } of models)
        await expectAnswer({ wire: "chat", baseUrl: apiBase, key: apiKey, model });
    },
  },
  llm: {
    "yaml client": async (code, { gateway: { key } }) => {
      const entries = Bun.YAML.parse(code) as Record<"model_id" | "model_name" | "api_base" | "api_key_name", string>[];
      expect(page("llm").text).toContain(`llm keys set ${entries[0]?.api_key_name} `);
      expect(page("llm").text).toContain(`llm -m ${entries[0]?.model_id} `);
      for (const { api_base, model_name } of entries)
        await expectAnswer({ wire: "chat", baseUrl: api_base, key, model: model_name });
    },
  },
};

const names = readdirSync(join(ROOT, FOLDER)).map((file) => file.replace(/\.md$/, ""));
for (const name of names.sort()) {
  const expected = EXPECTED[name];
  testPage(join(FOLDER, `${name}.md`), {
    ...(expected && { expected }),
    config: () => clientSections(simulator.url, "standard"),
  });
}

test("every page is linked from the list of clients and from the README, and says what is tested", () => {
  const list = page("README").text;
  const readme = new Page("README.md").text;
  for (const name of names.filter((one) => one !== "README")) {
    const { text } = page(name);
    expect(list).toContain(`](${name}.md)`);
    expect(readme).toContain(`](${FOLDER}/${name}.md)`);
    expect(`${name}: ${text}`).toMatch(/\n## What to know\n/);
    expect(`${name}: ${text}`).toMatch(/[Tt]ested|[Nn]ot run by our tests|Not supported yet/);
  }
});

test("the models that Gemini CLI chooses by itself are in the catalogue", () => {
  const named = page("gemini-cli").prose.match(/`gemini-\d[\w.-]*`/g) ?? [];
  expect(named.length).toBe(3);
  const known = builtInModels.map(({ id }) => id);
  for (const name of named) expect(known).toContain(`google/${name.replaceAll("`", "")}`);
});

test("Cline: the fields of its table work", async () => {
  const gateway = await startTestGateway({ config: clientSections(simulator.url, "standard") });
  const fields = Object.fromEntries(page("cline").rowsUnder("field", "value"));
  const baseUrl = (fields["Base URL"] ?? "").replace("http://127.0.0.1:8787", gateway.url);
  await expectAnswer({ wire: "chat", baseUrl, key: gateway.key, model: fields["Model ID"] ?? "" });
  await gateway.stop();
});

test("Codex: `bin/trivium env` says where to configure it", async () => {
  const child = Bun.spawn([TRIVIUM, "env", "codex"], { stderr: "pipe", stdout: "ignore" });
  expect(await child.stderr.text()).toContain("docs/clients/codex.md");
  expect(await child.exited).toBe(1);
});
