import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { programsPresent } from "../testing/is-present.ts";
import { type ClientHarness, startClientHarness } from "./support/client-harness.ts";
import { ANSWER, ExampleFolder, Page, root } from "./support/doc-examples.ts";

// Examples start programs, possibly on a slow machine.

const FOLDER = "docs/clients";
const pages = readdirSync(join(root, FOLDER))
  .sort()
  .map((name) => new Page(join(FOLDER, name)));
const page = (name: string) => pages.find(({ file }) => file === join(FOLDER, `${name}.md`)) ?? new Page(name);

/** Third-party programs: conformance/agents and conformance/clients install and run them. */
const PROGRAMS = ["claude", "gemini", "opencode", "aider", "codex", "qwen", "cline", "cn", "llm", "pip", "npm"];

let harness: ClientHarness;
let folder: ExampleFolder;

beforeAll(async () => {
  harness = await startClientHarness("standard");
  folder = new ExampleFolder({
    TRIVIUM_URL: harness.gateway.url,
    TRIVIUM_API_KEY: harness.gateway.key,
    LITELLM_LOCAL_MODEL_COST_MAP: "True",
  });
});
afterAll(async () => {
  await harness.stop();
  folder.remove();
});

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
  const text = await answer.text();
  expect({ url, model: setting.model, status: answer.status, text }).toMatchObject({
    status: 200,
    text: expect.stringMatching(ANSWER),
  });
}

/** A file shown on a page, as a reader fills it in. */
const filledIn = (code: string) =>
  code
    .replaceAll("http://127.0.0.1:8787", harness.gateway.url)
    .replaceAll(/sk-trv-\.\.\.|\{env:TRIVIUM_API_KEY\}/g, harness.gateway.key);

test("every page is linked from the list of clients and from the README, has the same sections, and shows only what is tested", () => {
  const list = page("README").text;
  const readme = new Page("README.md").text;
  for (const { file, text, blocks } of pages) {
    const name = file.slice(FOLDER.length + 1);
    if (name === "README.md") continue;
    expect(list).toContain(`](${name})`);
    expect(readme).toContain(`](${FOLDER}/${name})`);
    expect(`${name}: ${text}`).toMatch(/\n## What to know\n/);
    expect(`${name}: ${text}`).toMatch(/[Tt]ested|[Nn]ot run by our tests|Not supported yet/);
    const languages = blocks.map(({ language }) => language);
    expect(languages.filter((one) => !["sh", "ts", "js", "python", "json", "yaml", "toml"].includes(one))).toEqual([]);
  }
});

describe("shell", () => {
  const blocks = pages.flatMap(({ file, ...shown }) =>
    shown.blocks.filter(({ language }) => language === "sh").map(({ code }) => ({ file, code })),
  );
  const first = (code: string) => /^[\w/]+/.exec(code)?.[0] ?? "";
  const settings = blocks.filter(({ code }) => first(code) === "export");

  test("every block sets variables, calls curl, or calls a program that is tested elsewhere", () => {
    expect(
      blocks.map(({ code }) => first(code)).filter((word) => !["export", "curl", ...PROGRAMS].includes(word)),
    ).toEqual([]);
    expect(settings.length).toBe(6);
  });

  /** The variables as the shell sets them. */
  async function variablesOf(code: string): Promise<Record<string, string>> {
    const names = [...code.matchAll(/^export (\w+)=/gm)].map(([, name = ""]) => name);
    const said = await folder.shell(
      `${code}\nfor name in ${names.join(" ")}; do eval "echo \\"$name=\\$$name\\""; done`,
    );
    return Object.fromEntries(
      said
        .trim()
        .split("\n")
        .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
    );
  }

  /** What clients read from their environment. */
  function settingsIn(set: Record<string, string | undefined>): Setting[] {
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
    const base = set["OPENAI_BASE_URL"] ?? set["OPENAI_API_BASE"];
    add("chat", base, set["OPENAI_API_KEY"], chat);
    add("chat", set["OPENAI_API_BASE_URL"], set["OPENAI_API_KEY"], ["openai/gpt-5-mini"]);
    return found;
  }

  test.each(settings.filter(({ file }) => !file.endsWith("README.md")))(
    "$file: its variables make URLs that work",
    async ({ code }) => {
      const found = settingsIn(await variablesOf(code));
      expect(found.length).toBeGreaterThan(0);
      for (const setting of found) await expectAnswer(setting);
    },
  );

  test.each(["claude-code", "gemini-cli", "aider", "qwen-code"])(
    "%s: `trivium env` prints what its page sets",
    async (client) => {
      const shown = settings.find(({ file }) => file === join(FOLDER, `${client}.md`));
      const set = await variablesOf(shown?.code ?? "");
      const printed = await folder.shell(`bin/trivium env ${client} --model gpt-4.1`);
      expect(Object.keys(await variablesOf(printed)).sort()).toEqual(Object.keys(set).sort());
      for (const [name, value] of Object.entries(await variablesOf(printed)))
        if (!name.endsWith("MODEL")) expect({ name, value }).toEqual({ name, value: set[name] ?? "" });
    },
  );

  test("codex: `trivium env` says where to configure it", async () => {
    const child = Bun.spawn([join(root, "bin/trivium"), "env", "codex"], { stderr: "pipe", stdout: "ignore" });
    expect(await child.stderr.text()).toContain("docs/clients/codex.md");
    expect(await child.exited).toBe(1);
  });

  const canPaste = programsPresent("curl lines of the client pages", "curl");
  test.skipIf(!canPaste).each(page("curl").in("sh"))("curl.md: %s", async (code) => {
    const said = await folder.shell(code);
    if (code.includes('/models"')) expect(said).toContain('"id":"sim/standard"');
    else if (code.includes('"stream":true')) expect(said).toEndWith("data: [DONE]\n\n");
    else expect(said).toMatch(ANSWER);
  });
});

describe("files", () => {
  test("opencode: its provider works for each of its models", async () => {
    const file = JSON.parse(filledIn(page("opencode").in("json")[0] ?? "")) as {
      provider: Record<string, { npm: string; options: { baseURL: string; apiKey: string }; models: object }>;
      small_model: string;
    };
    const { trivium } = file.provider;
    if (!trivium) throw new Error("the page has no provider trivium");
    const { baseURL: baseUrl, apiKey: key } = trivium.options;
    const models = Object.keys(trivium.models);
    expect(models.length).toBe(2);
    for (const model of models) await expectAnswer({ wire: "chat", baseUrl, key, model });
    const named = [file.small_model, /--model (\S+)/.exec(page("opencode").text)?.[1] ?? ""];
    for (const name of named) expect(models).toContain(name.replace(/^trivium\//, ""));
    // With the other package the base URL is the same, and the path begins after it.
    expect(page("opencode").text).toContain('"npm": "@ai-sdk/anthropic"');
    await expectAnswer({ wire: "messages", baseUrl: baseUrl.replace(/\/v1$/, ""), key, model: models[1] ?? "" });
  });

  test("Codex: its provider works for its model and for that of the example", async () => {
    const file = Bun.TOML.parse(filledIn(page("codex").in("toml")[0] ?? "")) as {
      model: string;
      model_provider: string;
      model_providers: Record<string, { base_url: string; env_key: string; wire_api: string }>;
    };
    const provider = file.model_providers[file.model_provider];
    expect(provider).toMatchObject({ env_key: "TRIVIUM_API_KEY", wire_api: "responses" });
    const named = /--model (\S+)/.exec(page("codex").text)?.[1] ?? "";
    for (const model of [file.model, named])
      await expectAnswer({ wire: "responses", baseUrl: provider?.base_url ?? "", key: harness.gateway.key, model });
  });

  test("Continue: its model works", async () => {
    const file = Bun.YAML.parse(filledIn(page("continue").in("yaml")[0] ?? "")) as {
      models: { provider: string; model: string; apiBase: string; apiKey: string }[];
    };
    expect(file.models.map(({ provider }) => provider)).toEqual(["openai"]);
    for (const { apiBase, apiKey, model } of file.models)
      await expectAnswer({ wire: "chat", baseUrl: apiBase, key: apiKey, model });
  });

  test("llm: its model works", async () => {
    const file = Bun.YAML.parse(filledIn(page("llm").in("yaml")[0] ?? "")) as {
      model_id: string;
      model_name: string;
      api_base: string;
      api_key_name: string;
    }[];
    expect(page("llm").text).toContain(`llm keys set ${file[0]?.api_key_name} `);
    expect(page("llm").text).toContain(`llm -m ${file[0]?.model_id} `);
    for (const { api_base, model_name } of file)
      await expectAnswer({ wire: "chat", baseUrl: api_base, key: harness.gateway.key, model: model_name });
  });

  test("Cline: the fields of its table work", async () => {
    const fields = Object.fromEntries(
      page("cline")
        .rowsUnder("field", "value")
        .map(([field = "", value = ""]) => [field, value.replaceAll("`", "")]),
    );
    const baseUrl = filledIn(fields["Base URL"] ?? "");
    await expectAnswer({ wire: "chat", baseUrl, key: harness.gateway.key, model: fields["Model ID"] ?? "" });
  });

  test("Gemini CLI: its settings select the API key", () => {
    const file = JSON.parse(page("gemini-cli").in("json")[0] ?? "") as object;
    expect(file).toEqual({ security: { auth: { selectedType: "gemini-api-key" } } });
  });

  test("Open WebUI: the model list that it reads has the key's models", async () => {
    const headers = { authorization: `Bearer ${harness.gateway.key}` };
    const answer = await fetch(`${harness.gateway.url}/v1/models`, { headers });
    const { data } = (await answer.json()) as { data: { id: string }[] };
    expect(data.map(({ id }) => id)).toContain("openai/gpt-5-mini");
  });
});

describe("TypeScript and JavaScript", () => {
  const examples = pages.flatMap((one) =>
    [...one.in("ts"), ...one.in("js")].map((code) => {
      const imports = new Bun.Transpiler({ loader: "ts" }).scanImports(code).map(({ path }) => path);
      const missing = imports.filter((name) => !existsSync(join(root, "node_modules", name)));
      if (missing.length > 0) console.log(`skipped: ${one.file}: ${missing.join(", ")} not installed`);
      return { file: one.file, name: imports[0] ?? "", code, missing };
    }),
  );

  test("the AI SDK examples are run here", () => {
    const run = examples.filter(({ missing }) => missing.length === 0);
    expect(run.filter(({ file }) => file.endsWith("ai-sdk.md")).length).toBe(4);
  });

  for (const { file, name, code, missing } of examples)
    test.skipIf(missing.length > 0)(`${file}: ${name}`, async () => {
      expect(await folder.typescript(code)).toMatch(ANSWER);
    });
});

describe("Python", () => {
  const examples = pages.flatMap((one) => one.in("python").map((code) => ({ file: one.file, code })));
  const present = programsPresent("Python examples of the client pages", "python3");
  /** Further interpreters, such as virtual environments, that may have the packages. */
  const interpreters = ["python3", ...(process.env["TRIVIUM_TEST_PYTHON"] ?? "").split(":")].filter(Boolean);

  /** The packages that an example needs, by the modules that it imports. */
  const modulesOf = (code: string) =>
    [...code.matchAll(/^(?:from|import) ([\w.]+)/gm)].map(([, name = ""]) => name).filter((name) => name !== "os");

  /** Compiles the examples, and returns for each whether its modules are installed. */
  const CHECK = [
    "import importlib.util, json, sys",
    "def there(name):",
    "    try: return importlib.util.find_spec(name) is not None",
    "    except ModuleNotFoundError: return False",
    "found = []",
    "for one in json.load(sys.stdin):",
    "    compile(one['code'], one['file'], 'exec')",
    "    found.append(all(there(name) for name in one['modules']))",
    "print(json.dumps(found))",
  ].join("\n");

  function check(interpreter: string): boolean[] {
    const asked = JSON.stringify(examples.map(({ file, code }) => ({ file, code, modules: modulesOf(code) })));
    const { stdout, stderr } = Bun.spawnSync([interpreter, "-c", CHECK], { stdin: Buffer.from(asked) });
    if (stdout.length === 0) throw new Error(`${interpreter}: ${stderr.toString()}`);
    return JSON.parse(stdout.toString()) as boolean[];
  }

  const chosen: (string | undefined)[] = examples.map(() => undefined);
  const problems: string[] = [];
  if (present)
    for (const interpreter of interpreters) {
      try {
        for (const [index, found] of check(interpreter).entries())
          if (found && chosen[index] === undefined) chosen[index] = interpreter;
      } catch (thrown) {
        problems.push(String(thrown));
      }
    }

  /**
   * Runs examples one after another, each with its own names, and returns their output. Imports take most of their
   * time.
   */
  const RUN = [
    "import contextlib, io, json, sys, traceback",
    "said = []",
    "for one in json.loads(sys.argv[1]):",
    "    out = io.StringIO()",
    "    with contextlib.redirect_stdout(out):",
    "        try: exec(compile(one['code'], one['file'], 'exec'), {'__name__': '__main__'})",
    "        except Exception: print(traceback.format_exc())",
    "    said.append(out.getvalue())",
    "print(json.dumps(said))",
  ].join("\n");

  const running = new Map<string, Promise<string[]>>();

  /** What all examples of an interpreter print, in their order. */
  function outputOf(interpreter: string): Promise<string[]> {
    const own = JSON.stringify(examples.filter((_, index) => chosen[index] === interpreter));
    const begun =
      running.get(interpreter) ??
      folder.run([interpreter, "-W", "ignore", "-c", RUN, own]).then((text) => JSON.parse(text) as string[]);
    running.set(interpreter, begun);
    return begun;
  }

  test.skipIf(!present)("every example compiles", () => {
    expect(problems).toEqual([]);
    expect(examples.length).toBeGreaterThan(12);
  });

  for (const [index, { file, code }] of examples.entries()) {
    const interpreter = chosen[index];
    const [name = ""] = modulesOf(code);
    if (interpreter === undefined && present)
      console.log(`skipped: ${file}: ${modulesOf(code).join(", ")} not installed`);
    test.skipIf(interpreter === undefined)(`${file}: ${name}`, async () => {
      const place = chosen.slice(0, index).filter((one) => one === interpreter).length;
      expect((await outputOf(interpreter ?? ""))[place]).toMatch(ANSWER);
    });
  }
});
