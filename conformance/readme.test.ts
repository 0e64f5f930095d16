import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SIMULATED_MODELS } from "../src/sim/models.ts";
import { callGateway, DIALECTS } from "./support/client-calls.ts";
import { programsPresent } from "./support/programs.ts";
import { startTestGateway, type TestGateway } from "./support/test-gateway.ts";

const root = new URL("..", import.meta.url).pathname;
const readme = readFileSync(join(root, "README.md"), "utf8");

interface Block {
  language: string;
  code: string;
}

const blocks: Block[] = [...readme.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = "", code = ""]) => ({
  language,
  code,
}));
const inLanguage = (language: string) => blocks.filter((block) => block.language === language).map(({ code }) => code);
const curls = inLanguage("sh").filter((code) => code.includes("curl"));
const commands = inLanguage("sh").filter((code) => !code.includes("curl"));

const canPaste = programsPresent("shell examples of the README", "curl", "sed");

let gateway: TestGateway;
let folder: string;

beforeAll(async () => {
  gateway = await startTestGateway({ config: { simulator: true } });
  // Inside the repository, so that the SDKs are found; `data` is no part of its history.
  mkdirSync(join(root, "data"), { recursive: true });
  folder = mkdtempSync(join(root, "data", "readme-"));
});
afterAll(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
  try {
    rmdirSync(join(root, "data"));
  } catch {
    // Somebody's gateway keeps its own data there.
  }
});

/** Runs a command as a reader of the README would, with the address and the key in the environment. */
async function run(command: string[]): Promise<string> {
  const child = Bun.spawn(command, {
    cwd: folder,
    env: {
      PATH: process.env["PATH"] ?? "",
      TRIVIUM_URL: gateway.url,
      TRIVIUM_API_KEY: gateway.key,
      TRIVIUM_CONFIG: gateway.configFile,
    },
    stdout: "pipe",
    stderr: "pipe",
    timeout: 20_000,
  });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  const complaints = stderr.replace(/^ *%[\s\S]*/m, "").replaceAll(/^Operation publishers\/.*\n/gm, "");
  expect({ code: await child.exited, stderr: complaints }).toEqual({ code: 0, stderr: "" });
  return stdout;
}

const runShell = (code: string) => run(["sh", "-eu", "-c", code]);
const one = (found: readonly string[]): string => {
  expect(found.length).toBe(1);
  return found[0] ?? "";
};

/** The words that the simulator answers with, spoken in pieces. */
const ANSWER = /simulator speaking, not a model\. You wrote: “Hello, who are you\?”/;

test("every block of the README is run, loaded or compared below", () => {
  expect(curls.length).toBe(5);
  expect(inLanguage("ts").length).toBe(5);
  expect(commands.length + curls.length + 5 + inLanguage("json").length + inLanguage("yaml").length).toBe(
    blocks.length,
  );
});

describe("shell", () => {
  test("the npm commands are scripts of package.json, and the variables are those of the examples", () => {
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: object };
    const named = [...readme.matchAll(/npm (?:run )?(start|test|bench)\b/g)].map(([, name]) => name ?? "");
    expect([...new Set(named)].sort()).toEqual(["bench", "start", "test"]);
    for (const name of named) expect(scripts).toHaveProperty(name);
    const exported = commands.join("").matchAll(/^export (\w+)=/gm);
    expect([...exported].map(([, name]) => name)).toEqual(["TRIVIUM_URL", "TRIVIUM_API_KEY"]);
    expect(
      commands.map((code) => code.trim()).filter((code) => !/^(npm ci && npm \w+|export |bin\/trivium )/.test(code)),
    ).toEqual([]);
  });

  test("the lines of the program make pictures and a film", async () => {
    const code = one(commands.filter((block) => block.includes("bin/trivium ")));
    const output = await runShell(code.replaceAll("bin/trivium", join(root, "bin/trivium")));
    expect(output).toBe("owl.png\nnight-1.jpg\nnight-2.jpg\nowl.mp4\n");
    const { width, height } = await new Bun.Image(readFileSync(join(folder, "owl.png"))).metadata();
    expect([width, height]).toEqual([1536, 1024]);
    expect(readFileSync(join(folder, "owl.mp4")).toString("latin1", 4, 8)).toBe("ftyp");
  }, 30_000);

  test.skipIf(!canPaste)("the first curl line streams an answer", async () => {
    const output = await runShell(one(curls.filter((code) => code.includes('"stream":true'))));
    const events = output.split("\n\n").filter((event) => event.startsWith("data: {"));
    const text = events.map((event) => {
      const chunk = JSON.parse(event.slice("data: ".length)) as { choices: { delta: { content?: string } }[] };
      return chunk.choices[0]?.delta.content ?? "";
    });
    expect(text.filter((piece) => piece !== "").length).toBeGreaterThan(5);
    expect(text.join("")).toMatch(ANSWER);
    expect(output).toEndWith("data: [DONE]\n\n");
  });

  test.skipIf(!canPaste)("the receipt's line shows a receipt of the form that the README shows", async () => {
    const output = await runShell(one(curls.filter((code) => code.includes("/generation?id="))));
    const shown = JSON.parse(one(inLanguage("json"))) as { data: Record<string, unknown> };
    const real = JSON.parse(output) as { data: Record<string, unknown> };
    expect(formOf(real)).toEqual(formOf(shown));
    expect(real.data).toMatchObject({ model: "sim/standard", provider: "simulator", usage_source: "measured" });
    expect(real.data["cost_nano_usd"]).toBeGreaterThan(0);
  });

  test.skipIf(!canPaste)(
    "the line that calls a model of another protocol answers in the caller's own, and tells what was dropped",
    async () => {
      const output = await runShell(one(curls.filter((code) => code.includes("sim/standard-chat"))));
      expect(output).toMatch(/^HTTP\/1\.1 200 /);
      expect(output).toMatch(/^x-trivium-dropped: top_k\r$/m);
      expect(output).toContain('"type":"message","role":"assistant","model":"sim/standard-chat"');
    },
  );

  test.skipIf(!canPaste)("the line that makes a picture makes one of the size that it asks for", async () => {
    await runShell(one(curls.filter((code) => code.includes("/images/generations"))));
    const { width, height, format } = await new Bun.Image(readFileSync(join(folder, "fox.png"))).metadata();
    expect({ width, height, format }).toEqual({ width: 1536, height: 1024, format: "png" });
  });

  test.skipIf(!canPaste)("the line that fails on purpose fails as the README says", async () => {
    const output = await runShell(one(curls.filter((code) => code.includes("fail-429"))));
    expect(output).toMatch(/^HTTP\/1\.1 429 /);
    expect(output).toMatch(/^retry-after: 1\r$/m);
    expect(output).toContain('"code":"rate_limit_exceeded"');
  });
});

/** Names and nesting without values; numbers that may be unknown count as such. */
function formOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(formOf);
  if (typeof value !== "object" || value === null)
    return typeof value === "number" || value === null ? "n" : typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, formOf(item)]));
}

describe("SDKs", () => {
  const isMedia = (block: string) => block.includes("writeFileSync");
  const texts = inLanguage("ts").filter((block) => !isMedia(block));
  const media = inLanguage("ts").filter(isMedia);

  function runExample(name: string, code: string): Promise<string> {
    const file = join(folder, `${name.replaceAll(/\W/g, "-")}.ts`);
    writeFileSync(file, code);
    return run([join(root, "bin/bun"), file]);
  }

  test.each(["openai", "@anthropic-ai/sdk", "@google/genai"])("the example with %s prints an answer", async (name) => {
    const code = one(texts.filter((block) => block.includes(`from "${name}"`)));
    expect(await runExample(name, code)).toMatch(ANSWER);
  });

  test("the example that makes a picture with openai writes one of the type that it asks for", async () => {
    await runExample("picture", one(media.filter((block) => block.includes('from "openai"'))));
    const { format } = await new Bun.Image(readFileSync(join(folder, "fox.webp"))).metadata();
    expect(format).toBe("webp");
  });

  test("the example that makes a film with @google/genai writes one", async () => {
    await runExample("film", one(media.filter((block) => block.includes('from "@google/genai"'))));
    const film = readFileSync(join(folder, "fox.mp4"));
    expect(film.subarray(4, 8).toString()).toBe("ftyp");
    expect(film.length).toBeGreaterThan(10_000);
  }, 30_000);

  test("decisions §1: the drop-in door takes what the contract door refuses", async () => {
    const body = { max_tokens: 5 };
    const strict = await callGateway(gateway.url, "chat", gateway.key, { model: "sim/standard", body });
    expect(strict.status).toBe(400);
    expect(await strict.text()).toContain("max_completion_tokens");
    for (const dialect of DIALECTS) {
      const answer = await callGateway(gateway.url, dialect, gateway.key, {
        model: "sim/standard",
        door: "dropin",
        body: dialect === "genai" ? {} : body,
      });
      expect(answer.status).toBe(200);
      await answer.text();
    }
  });

  test("a model can be pinned to a provider", async () => {
    const answer = await callGateway(gateway.url, "chat", gateway.key, { model: "sim/standard:simulator" });
    expect(answer.status).toBe(200);
    await answer.text();
  });
});

describe("tables", () => {
  /** Cells of the rows below a heading row that begins with these titles. */
  function rowsUnder(...titles: string[]): string[][] {
    const lines = readme.split("\n");
    const cells = (line: string) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim());
    const start = lines.findIndex((line) => titles.every((title, column) => cells(line)[column] === title));
    const end = lines.findIndex((line, index) => index > start && !line.startsWith("|"));
    return lines.slice(start + 2, end).map(cells);
  }

  test("the command table has commands of the program", async () => {
    const help = await run([join(root, "bin/trivium"), "help"]);
    const known = [...help.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name ?? "");
    const shown = rowsUnder("command").map(([cell = ""]) => /^`([a-z]+)/.exec(cell)?.[1] ?? "");
    expect(shown.length).toBeGreaterThan(5);
    expect(shown.filter((name) => !known.includes(name))).toEqual([]);
  });

  const failures = rowsUnder("model", "your client sees").map(([models = "", seen = ""]) => ({
    models: [...models.matchAll(/`(sim\/[\w-]+)`/g)].map(([, id]) => id ?? ""),
    seen,
  }));

  test("every model of the failure table exists", () => {
    const known = new Set(SIMULATED_MODELS.map(({ name }) => `sim/${name}`));
    const named = failures.flatMap(({ models }) => models);
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((id) => !known.has(id))).toEqual([]);
  });

  const call = (model: string, stream = false) => callGateway(gateway.url, "chat", gateway.key, { model, stream });
  const told = (model: string) => failures.find(({ models }) => models.includes(model))?.seen ?? "";

  test("its statuses are those that a client sees", async () => {
    for (const model of ["sim/fail-400", "sim/fail-404", "sim/fail-413"]) {
      expect(told(model)).toStartWith("that status");
      expect((await call(model)).status).toBe(Number(model.slice(-3)));
    }
    for (const model of ["sim/fail-429", "sim/fail-401", "sim/fail-403", "sim/fail-500", "sim/fail-503"]) {
      expect(told(model)).toContain(String((await call(model)).status));
    }
    const messages = await callGateway(gateway.url, "messages", gateway.key, { model: "sim/fail-503" });
    expect(told("sim/fail-503")).toContain(`${messages.status} in messages`);
    expect((await call("sim/flaky-1")).status).toBe(200);
  });

  test.each(["sim/error-in-stream", "sim/cut-mid-stream", "sim/close-mid-stream"])(
    "%s: an error event in the stream, and no terminal event",
    async (model) => {
      const text = await (await call(model, true)).text();
      expect(told(model)).toContain("error event");
      expect(text).toContain('data: {"error":{"message"');
      expect(text).not.toContain("[DONE]");
    },
  );
});
