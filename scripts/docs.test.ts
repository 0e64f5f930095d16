import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join, normalize } from "node:path";
import { Glob } from "bun";
import { OUTCOMES } from "../simulator/media/outcome.ts";
import { readConfig } from "../src/app/read-config.ts";
import { ERROR_TABLE, type ErrorKind, type ErrorRule, GatewayError } from "../src/canon/error.ts";
import { PRICE_NAMES } from "../src/catalogue/model.ts";
import { COMMANDS } from "../src/cli/commands.ts";
import { type ConfigSchema, configSchema } from "../src/config/read-values.ts";
import { ProviderFile } from "../src/config/schema/provider-file.ts";
import { RootFile } from "../src/config/schema.ts";
import { ERROR_WORDS as CHAT_WORDS } from "../src/dialects/chat/answer/error-words.ts";
import { ERROR_WORDS as GENAI_WORDS } from "../src/dialects/genai/answer/error-words.ts";
import { DIALECTS } from "../src/dialects/index.ts";
import { ERROR_WORDS as MESSAGES_WORDS } from "../src/dialects/messages/answer/error-words.ts";
import { DEFAULT_FILE_LIMITS } from "../src/files/files.ts";
import type { ImageAdapter } from "../src/media/adapter.ts";
import { makeFormat } from "../src/observe/format.ts";
import { PROVIDER_KINDS } from "../src/providers/index.ts";
import { adapterContext, imageCall, jsonOf, mediaAnswer } from "../src/providers/media-adapters/media-calls.sample.ts";
import { DEFAULT_TIMEOUTS_MS } from "../src/providers/provider.ts";
import { DEFAULT_TIMINGS } from "../src/relay/settle/timings.ts";
import { VERSION } from "../src/version.ts";
import { Page } from "./markdown-page.ts";

const root = new URL("..", import.meta.url).pathname;
const read = (file: string) => readFileSync(join(root, file), "utf8");
const page = (file: string) => new Page(file);
const documents = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", ...new Glob("docs/**/*.md").scanSync(root)];

const words = (cell: string | undefined) => (cell ?? "").split(", ").filter((word) => word !== "");

describe("what documents name", () => {
  const sources = [...new Glob("{src,simulator}/**/*.ts").scanSync(root)];
  const exists = (path: string) =>
    path.includes("*") ? [...new Glob(path).scanSync(root)].length > 0 : existsSync(join(root, path));

  /** A word in marks of code that can only be a file or folder of this repository. */
  function problemWith(word: string): string | undefined {
    if (/^(?:src|simulator|bin|docs|scripts|conformance|bench|fixtures|\.ci)(?:\/[\w.*/-]+)?$/.test(word)) {
      return exists(word) ? undefined : word;
    }
    if (/^(?:[A-Z]+\.md|[\w-]+\.json|trivium\.example\.yaml|\.npmrc)$/.test(word) && !/^service-account/.test(word)) {
      return exists(word) ? undefined : word;
    }
    if (/^[\w-]+\.ts$/.test(word)) return sources.some((file) => file.endsWith(`/${word}`)) ? undefined : word;
    return undefined;
  }

  test.each(documents)("%s: every path in it exists", (file) => {
    const { prose, blocks } = page(file);
    const inline = [...prose.matchAll(/`([^`]+)`/g)].map(([, code]) => code ?? "");
    const commands = blocks.flatMap(({ language, code }) => (language === "sh" ? [code] : []));
    const named = [...inline, ...commands].flatMap((code) => code.split(/[\s"'(),;:]+/));
    expect(named.map(problemWith).filter((problem) => problem !== undefined)).toEqual([]);
  });

  test.each(documents)("%s: every link in it leads somewhere", (file) => {
    const wrong: string[] = [];
    for (const [, target = "", anchor] of page(file).prose.matchAll(/\]\(([^)#\s]*)(?:#([^)\s]+))?\)/g)) {
      if (/^https?:/.test(target)) continue;
      const path = target === "" ? file : normalize(join(dirname(file), target));
      if (!existsSync(join(root, path))) wrong.push(target);
      else if (anchor !== undefined && !anchorsOf(page(path)).includes(anchor)) wrong.push(`${target}#${anchor}`);
    }
    expect(wrong).toEqual([]);
  });

  const anchorsOf = ({ prose }: Page) =>
    [...prose.matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
      title
        .toLowerCase()
        .replaceAll(/[^\w\s-]/g, "")
        .replaceAll(" ", "-"),
    );

  test("decisions have a number each, fit on a page, and are listed by subject", () => {
    const records = documents.filter((file) => /^docs\/decisions\/(?!README)/.test(file)).sort();
    expect(records.length).toBeGreaterThan(0);
    const numbers = records.map((file) => /^docs\/decisions\/(\d{4})-/.exec(file)?.[1] ?? file);
    expect(new Set(numbers).size).toBe(records.length);
    for (const file of records) {
      const text = read(file);
      const titles = [...text.matchAll(/^#+ (.+)$/gm)].map(([, title]) => title);
      const number = file.slice("docs/decisions/".length).slice(0, 4);
      expect(titles).toEqual([expect.stringMatching(new RegExp(`^${number} `)), "Context", "Decision", "Consequences"]);
      const length = text.split(/[\s|]+/).length;
      expect(`${file}: ${length > 550 ? `${length} words` : "one page"}`).toBe(`${file}: one page`);
    }
    const listed = page("docs/decisions/README.md")
      .rowsUnder("record", "choice")
      .map(([link]) => `docs/decisions/${/\]\((.+)\)/.exec(link ?? "")?.[1]}`);
    expect(listed.sort()).toEqual(records);
  });

  test("the dependencies of the decision are those of package.json, and the change log has its version", () => {
    const manifest = JSON.parse(read("package.json")) as Record<string, Record<string, string>> & { version: string };
    const record = page("docs/decisions/0002-dependencies.md");
    const named = record.rowsUnder("package", "job").flatMap(([names]) => words(names));
    expect(named.sort()).toEqual(
      ["dependencies", "optionalDependencies", "devDependencies"]
        .flatMap((kind) => Object.keys(manifest[kind] ?? {}))
        .sort(),
    );
    expect(manifest.version).toBe(VERSION);
    expect(read("CHANGELOG.md")).toMatch(new RegExp(`^## \\[.*${VERSION.replaceAll(".", "\\.")}`, "m"));
  });
});

describe("S01, S10: what no file of the repository holds", () => {
  const ignored = [".git", ...read(".gitignore").split("\n")].map((line) => line.replace(/\/$/, "")).filter(Boolean);
  const isIgnored = (path: string) =>
    ignored.some((pattern) => new Glob(pattern).match(path) || new Glob(`**/${pattern}`).match(path));

  function* filesBelow(folder: string): Generator<string> {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (isIgnored(path)) continue;
      if (entry.isDirectory()) yield* filesBelow(path);
      else if (entry.isFile()) yield path;
    }
  }

  test("no registry's host and no path of a machine", () => {
    const registry = /\bregistry\.[a-z0-9-]+\.[a-z]{2,}|"resolved"\s*:/i;
    const machine = /(?:^|[\s"'`(=:])\/(?:work|home|root|Users)\/\w/m;
    const own = [root, `${homedir()}/`].filter((path) => path.split("/").length > 2);
    const wrong: string[] = [];
    let seen = 0;
    for (const file of filesBelow("")) {
      const text = read(file);
      if (text.includes("\0")) continue;
      seen++;
      const found = registry.exec(text) ?? machine.exec(text);
      if (found) wrong.push(`${file}: ${found[0].trim()}`);
      for (const path of own) if (text.includes(path)) wrong.push(`${file}: ${path}`);
    }
    expect(seen).toBeGreaterThan(200);
    expect(wrong).toEqual([]);
  });
});

describe("docs/errors.md", () => {
  const errors = page("docs/errors.md");

  test("choices 4: its table is the program's", () => {
    const again = ({ retrySameOffer, tryNextOffer }: ErrorRule) =>
      retrySameOffer ? "same offer once, then next" : tryNextOffer ? "next offer" : "no";
    const expected = (Object.keys(ERROR_TABLE) as ErrorKind[]).map((kind) => {
      const rule = ERROR_TABLE[kind];
      const { type, status } = MESSAGES_WORDS[kind];
      return [
        kind,
        status === undefined ? String(rule.status) : `${rule.status}; messages ${status}`,
        CHAT_WORDS[kind].type,
        String(CHAT_WORDS[kind].code),
        type,
        GENAI_WORDS[kind],
        again(rule),
      ];
    });
    expect(errors.rowsUnder("kind", "HTTP")).toEqual(expected);
  });

  test("contract 7: inside a messages stream, the types are those of the table", () => {
    const rows = errors.rowsUnder("kind", "type in a messages stream");
    const typeOf = (kind: string) => rows.find(([kinds]) => words(kinds).includes(kind)) ?? rows.at(-1);
    for (const kind of Object.keys(ERROR_TABLE) as ErrorKind[]) {
      const [write] = DIALECTS.messages.errors.encodeInStream(new GatewayError(kind, "x"), "", {
        options: undefined,
        begun: true,
      });
      expect(write?.text).toContain(`"error":{"type":"${typeOf(kind)?.[1]}"`);
    }
  });

  test("the bodies that it shows are what the program says", () => {
    const error = new GatewayError("not_found", 'There is no model "sim/standrd". Did you mean sim/standard?', {
      path: "model",
    });
    for (const name of ["chat", "messages", "genai"] as const) {
      const shown = errors.one(`json ${name}`);
      const said = JSON.parse(DIALECTS[name].errors.encode(error, "req_jKLO4XbQVQON4rxl9s9InA").body) as unknown;
      expect(JSON.parse(shown)).toEqual(said);
    }
  });
});

describe("docs/configuration.md", () => {
  const configuration = page("docs/configuration.md");
  const providers = page("docs/providers.md");

  /** `models[].offers[].provider` and so on: every leaf of the schema; prices have a table of their own. */
  function leaves(shape: ConfigSchema, path: string): string[] {
    if (shape.properties !== undefined && !path.endsWith("pricings")) {
      return Object.entries(shape.properties).flatMap(([name, field]) =>
        leaves(field, path ? `${path}.${name}` : name),
      );
    }
    const item = shape.items;
    if (item?.properties === undefined) return [path];
    return [path, ...leaves(item, `${path}[]`)];
  }

  test("its table has every field of the file, and no other", () => {
    const documented = configuration.rowsUnder("field", "type", "default").map(([field]) => field ?? "");
    expect(documented.sort()).toEqual([...leaves(configSchema(RootFile), ""), "providers"].sort());
  });

  test("where a field takes one of several words, its table has them all", () => {
    const rows = configuration.rowsUnder("field", "type", "default");
    const walk = (shape: ConfigSchema, path: string): void => {
      if (path.endsWith("pricings")) return;
      for (const [name, field] of Object.entries(shape.properties ?? {})) walk(field, path ? `${path}.${name}` : name);
      if (shape.items) walk(shape.items, shape.items.enum ? path : `${path}[]`);
      const type = rows.find(([field]) => field === path)?.[1] ?? "";
      const reported = type === "the same" ? rows.find(([field]) => field === "models[].input_modalities")?.[1] : type;
      for (const word of shape.enum ?? []) expect(`${path}: ${reported}`).toMatch(new RegExp(`\\b${word}\\b`));
    };
    walk(configSchema(RootFile), "");
  });

  test("its defaults are the program's", () => {
    const folder = mkdtempSync(join(tmpdir(), "trivium-docs-"));
    const config = readConfig({ cwd: folder, environment: {} });
    rmSync(folder, { recursive: true });
    const defaults: Record<string, unknown> = {
      "server.host": config.server.host,
      "server.port": config.server.port,
      "server.max_body_mb": config.server.maxBodyBytes / 1024 / 1024,
      "server.drain_delay_seconds": config.server.drainDelaySeconds,
      "server.drain_seconds": config.server.drainSeconds,
      "admin.host": config.admin.host,
      "admin.port": config.admin.port,
      simulator: config.simulator,
      "routing.survive": config.routing.calls.survive,
      "routing.hedge": config.routing.calls.hedge,
      "routing.breaker.failures": config.routing.breaker.failures,
      "routing.breaker.window_ms": config.routing.breaker.windowMs,
      "routing.breaker.open_ms": config.routing.breaker.openMs,
      "routing.max_queue": config.routing.maxQueue,
      "routing.queue_ms": config.routing.queueMs,
      data_dir: config.dataDir.replace(folder, "."),
      storage: config.storage.replace(config.dataDir, "{data_dir}"),
      files: config.files.replace(config.dataDir, "{data_dir}"),
    };
    const rows = configuration.rowsUnder("field", "type", "default");
    for (const [field, value] of Object.entries(defaults)) {
      expect(rows.find(([name]) => name === field)?.[2]).toBe(String(value));
    }
  });

  test("docs/providers.md: its table of kinds is that of the declarations", () => {
    const expected = [...PROVIDER_KINDS.values()].map((one) => [
      one.kind,
      one.fields.required.join(", "),
      one.fields.optional.join(", "),
      Object.values(one.variables ?? {}).join(", "),
      Object.keys(one.dialects).join(", "),
      one.publishers.map((publisher) => `${publisher}/…`).join(", "),
    ]);
    expect(providers.rowsUnder("kind", "required")).toEqual(expected);
  });

  test("docs/providers.md: its tables of provider fields have every field that some kind takes", () => {
    const taken = new Set(
      [...PROVIDER_KINDS.values()].flatMap(({ fields }) => [...fields.required, ...fields.optional]),
    );
    const common = leaves(configSchema(ProviderFile), "").filter((field) =>
      /^(kind|base_url|timeout_ms\..*|max_concurrent|breaker\..*|traits\..*|trace_context|home)$/.test(field),
    );
    const documented = providers.rowsUnder("provider field", "type").map(([field]) => field ?? "");
    expect(documented.sort()).toEqual([...new Set([...common, ...taken])].sort());
    const rows = providers.rowsUnder("provider field", "type", "default");
    const byName = (name: string) => rows.find(([field]) => field === name)?.[2];
    expect(byName("timeout_ms.first_byte")).toBe(String(DEFAULT_TIMEOUTS_MS.firstByte));
    expect(byName("timeout_ms.idle")).toBe(String(DEFAULT_TIMEOUTS_MS.idle));
  });

  test("its variables and bounds of the file store are the program's", () => {
    const source = read("src/files/open-file-store.ts");
    const asked = [...source.matchAll(/"((?:S3|AWS)_\w+)"/g)].map(([, name = ""]) => name);
    const shown = configuration.rowsUnder("what", "variables").flatMap(([, names]) => words(names));
    expect(shown).toEqual(asked);
    const { retentionMs, maxFileBytes, maxTotalBytes } = DEFAULT_FILE_LIMITS;
    const bounds = [
      `${retentionMs / 3_600_000} hours`,
      `${maxFileBytes / 1024 ** 3} GiB`,
      `${maxTotalBytes / 1024 ** 3} GiB`,
    ];
    expect(configuration.text).toContain(
      `kept for ${bounds[0]}: up to ${bounds[1]} for one file and ${bounds[2]} for all`,
    );
  });

  test("docs/prices.md names every price", () => {
    for (const name of [...PRICE_NAMES, "image_input"]) expect(page("docs/prices.md").text).toContain(`\`${name}\``);
  });

  test("its line of the log is what the program writes", () => {
    const shown = configuration.one("json log");
    const { time, request_id, host, ...line } = JSON.parse(shown) as Record<string, string & number>;
    const call = {
      id: line["receipt"] ?? "",
      project: line["project"] ?? "",
      key: line["key_id"] ?? "",
      createdAtMs: 0,
      model: line["model"] ?? "",
      provider: line["provider"] ?? "",
      upstreamModel: line["upstream_model"] ?? "",
      verb: line["verb"] ?? "",
      clientDialect: line["dialect"] ?? "",
      upstreamDialect: line["upstream_dialect"] ?? "",
      lane: line["lane"] ?? "",
      stream: true,
      outcome: "ok",
      offers: [{ outcome: "answered" }],
      fields: [],
      usage: { input: line["input"] ?? 0, cacheRead: line["cache_read"] ?? 0, output: line["output"] ?? 0 },
      costNanoUsd: line["cost_nano_usd"] ?? 0,
      firstContentMs: line["first_content_ms"] ?? 0,
      totalMs: line["total_ms"] ?? 0,
    };
    const facts = { requestId: request_id ?? "", host: host ?? "", failures: [] };
    const written = makeFormat(Date.now, "json").call("info", 0, call, facts);
    expect(written.replace(/"time":"[^"]*"/, `"time":"${time}"`)).toBe(shown);
  });
});

/** A value for each variable that a file names. */
function variablesOf(code: string): Record<string, string> {
  const names = [...code.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name ?? "");
  return Object.fromEntries(names.map((name) => [name, `value-of-${name}`]));
}

describe("trivium.example.yaml", () => {
  const check = async (environment: Record<string, string>) => {
    const child = Bun.spawn([join(root, "bin/trivium"), "check", "--json", "--config", "trivium.example.yaml"], {
      cwd: root,
      env: { PATH: process.env["PATH"] ?? "", ...environment },
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    return { code: await child.exited, stdout, stderr };
  };
  const variables = variablesOf(read("trivium.example.yaml"));

  test("it is fine once its variables are set", async () => {
    const { code, stdout, stderr } = await check(variables);
    expect(stderr).toBe("");
    expect(code).toBe(0);
    const { providers } = JSON.parse(stdout) as { providers: string[] };
    expect(providers).toEqual(["openai", "claude", "gemini", "vertex", "my-vllm", "simulator"]);
  });

  test("a variable that is not set is reported with its position", async () => {
    const { OPENAI_API_KEY: _missing, ...rest } = variables;
    const { code, stdout } = await check(rest);
    expect(code).toBe(1);
    const { problems } = JSON.parse(stdout) as { problems: { file: string; line: number; message: string }[] };
    const line =
      read("trivium.example.yaml")
        .split("\n")
        .findIndex((text) => text.includes("kind: openai,")) + 1;
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({ file: "trivium.example.yaml", line });
    expect(problems[0]?.message).toEndWith("OPENAI_API_KEY, which is not set");
  });
});

describe("docs/architecture.md", () => {
  const { text } = page("docs/architecture.md");

  test("it can be read in ten minutes", () => {
    expect(text.split(/\s+/).length).toBeLessThanOrEqual(2_400);
  });

  test("its arrows are those that scripts/arrows.test.ts holds", () => {
    const table = /ARROWS[^=]*= \{([\s\S]*?)\n\};/.exec(read("scripts/arrows.test.ts"))?.[1] ?? "";
    const held = [...table.matchAll(/^ {2}(\w+): \[([^\]]*)\],$/gm)].map(([, folder = "", list = ""]) => {
      const allowed = [...list.matchAll(/"([^"]+)"/g)].map(([, name]) => name);
      return [folder, allowed[0] === "*" ? "everything" : allowed.join(", ") || "nothing"];
    });
    expect(held.length).toBeGreaterThan(10);
    const shown = page("docs/architecture.md")
      .rowsUnder("folder", "what is in it")
      .map(([folder, , allowed]) => [folder, allowed]);
    expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(held));
  });

  test("docs/reference/timeouts.md: its timeouts are the program's", () => {
    const expected = {
      "timeout_ms.first_byte of the provider": DEFAULT_TIMEOUTS_MS.firstByte,
      "timeout_ms.idle of the provider": DEFAULT_TIMEOUTS_MS.idle,
      "timeout_ms.content of the provider": DEFAULT_TIMEOUTS_MS.content,
      "timeout_ms.total of the provider": DEFAULT_TIMEOUTS_MS.total,
      ...DEFAULT_TIMINGS,
      "server.drain_delay_seconds": 0,
      "server.drain_seconds": 30_000,
      "live.idle_seconds": 600_000,
      "live.session_seconds": 3_300_000,
    };
    const shown = page("docs/reference/timeouts.md")
      .rowsUnder("wait", "bound")
      .map(([, bound = "", place = ""]) => {
        return [place, Number(bound.replace(" ms", "").replaceAll(",", ""))];
      });
    expect(Object.fromEntries(shown)).toEqual(expected);
  });
});

describe("docs/cli.md", () => {
  test("its table has the commands of the program, as the help tells them", async () => {
    const expected = COMMANDS.map(({ name, usage, summary }) => [
      `${name} ${usage}`.trim().replaceAll("|", "\\|"),
      summary,
    ]);
    expect(page("docs/cli.md").rowsUnder("command", "what it does")).toEqual(expected);
  });

  test("its table has the commands that call the Admin API, always or with --url", () => {
    const files = [
      ...read("src/cli/commands.ts").matchAll(
        /import\("\.\/((?:commands|answer-cache)\/(?:running\/)?([\w-]+)\.ts)"\)/g,
      ),
    ];
    const uses = (pattern: RegExp) =>
      files.filter(([, file]) => pattern.test(read(`src/cli/${file}`))).map(([, , name = ""]) => name);
    const rows = page("docs/cli.md").rowsUnder("commands", "URL, in this order");
    const [always = "", withUrl = ""] =
      rows.find(([names]) => names?.includes("with --url"))?.[0]?.split("; with --url also ") ?? [];
    expect(words(always).sort()).toEqual(uses(/ADMIN_FLAGS|connectAdmin|LIST_FLAGS|object-verbs/).sort());
    expect(words(withUrl).sort()).toEqual(uses(/GATEWAY_FLAGS|atGateway/).sort());
  });

  test("every flag in the usage of a command is one that its help explains", async () => {
    for (const listed of COMMANDS) {
      const flags = (text: string) => [...text.matchAll(/--[a-z][a-z-]*|(?<=\s)-[a-z]\b/g)].map(([flag]) => flag);
      const help = (await listed.load()).help(listed);
      expect(help).toStartWith(`Usage: trivium ${listed.name}`);
      expect(flags(help.replace(/^Usage:.*$/gm, ""))).toEqual(expect.arrayContaining(flags(listed.usage)));
    }
  });
});

describe("simulator/README.md", () => {
  const simulator = page("simulator/README.md");

  test("it has every media host and every outcome", () => {
    const hosts = /MEDIA_HOSTS[^=]*= new Map\(\[([\s\S]*?)\n\]\);/.exec(read("simulator/media/hosts.ts"))?.[1] ?? "";
    const roots = [...hosts.matchAll(/^ {2}\["([\w/-]+)",/gm)].map(([, name]) => `\`/${name}`);
    expect(roots.length).toBeGreaterThan(10);
    const urls = simulator.rowsUnder("host", "makes").map(([, , cell]) => `\`${cell}`);
    for (const root of roots) expect(urls.some((cell) => cell.startsWith(root))).toBe(true);
    const outcomes = simulator.rowsUnder("in the prompt").flatMap(([names = ""]) => names.split(" "));
    expect(outcomes.sort()).toEqual(OUTCOMES.map((outcome) => `sim:${outcome}`).sort());
  });
});

describe("docs/adding-a-provider.md", () => {
  /** The page's own code, run from a folder that is not part of the repository's history. */
  async function loadShown<Module>(code: string): Promise<Module> {
    mkdirSync(join(root, "data"), { recursive: true });
    const folder = mkdtempSync(join(root, "data", "docs-"));
    try {
      const file = join(folder, "acme.ts");
      writeFileSync(file, code);
      return (await import(file)) as Module;
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  test("its media adapter is whole, and brings an image from its job to its link", async () => {
    const code = page("docs/adding-a-provider.md").one("ts adapter");
    const { images } = await loadShown<{ images: ImageAdapter }>(
      code
        .replaceAll('from "../../', 'from "../../src/')
        .replaceAll('from "../media', 'from "../../src/providers/media'),
    );
    const context = adapterContext("acme-paint-1");
    expect(images.serves(context.model)).toBe(true);
    expect(jsonOf(images.submit(imageCall({ seed: 7 }), context))).toMatchObject({ model: "acme-paint-1", seed: 7 });
    const taken = images.readSubmit(mediaAnswer({ id: "p1" }), imageCall(), context);
    expect(taken).toEqual({ state: "waiting", job: { id: "p1" } });
    expect(images.poll?.({ id: "p1" }, context).url).toBe("/paintings/p1");
    const url = "https://cdn.acme.example/p1.png";
    const read = (body: Record<string, string>) => images.readPoll?.(mediaAnswer(body), { id: "p1" }, context);
    expect(read({ status: "running" })).toMatchObject({ state: "waiting" });
    expect(read({ result_url: url })).toMatchObject({ state: "done", reply: { results: [{ image: { url } }] } });
    expect(read({ status: "failed", code: "content_policy" })).toMatchObject({ error: { kind: "content_blocked" } });
    expect(images.error(mediaAnswer({ code: "no_credit" }, 403)).kind).toBe("upstream_credentials");
  });
});
