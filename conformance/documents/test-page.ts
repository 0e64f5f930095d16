import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Block, labelOf, Page } from "../../scripts/markdown-page.ts";
import { readConfig } from "../../src/app/read-config.ts";
import { tellProblem } from "../../src/config/load.ts";
import { programsPresent } from "../../testing/is-present.ts";
import { Reader, ROOT } from "./reader.ts";

const START = "npm ci && npm start\n";
/** The note of a block that a reader runs after stopping the gateway. */
const STOPPED = "stopped";

/** What the simulator answers to the question of the examples. */
export const ANSWER = /simulator speaking, not a model\. You wrote: “Hello, who are you\?”/;

/** What a block prints: a part of it, a pattern, or a test of its own. Of a block that is not run, what it contains. */
type Expected = string | RegExp | ((output: string, reader: Reader) => void | Promise<void>);

export interface PageOptions {
  /** By the language and note of a block, such as `yaml mistakes`, or by words that occur in one block only. */
  expected?: Readonly<Record<string, Expected>>;
  /** Sections of the gateway's configuration, such as those that the page shows; or that the page needs no gateway. */
  config?: ((page: Page) => object) | "none";
  /** Called before the first block. */
  before?: (reader: Reader) => Promise<void> | void;
}

/**
 * Runs the blocks of a page in its order, as a reader does: in one terminal, in an empty folder, against one gateway. Shell blocks and
 * programs must succeed, configurations must be valid, and everything else that a page shows must be expected here: other languages,
 * and blocks with a note. Blocks with the note `excerpt: REASON` are left out, and those in Python are run by python.test.ts.
 */
export function testPage(file: string, { expected = {}, config, before }: PageOptions = {}): void {
  const page = new Page(file);
  const blocks = page.blocks.filter(({ note, language }) => !note.startsWith("excerpt: ") && language !== "python");
  const runnable = countRunnable(blocks, file);
  const labels = new Set(blocks.map(labelOf));
  const expectedOf = (block: Block) =>
    Object.entries(expected).filter(([name]) =>
      labels.has(name) ? name === labelOf(block) : block.code.includes(name),
    );
  let reader: Reader | undefined;

  async function outputOf(block: Block): Promise<string> {
    const { language, note, code, line } = block;
    if (isConfiguration(block)) return problemsOf(code);
    if (!isRun(block)) return reader?.filledIn(code) ?? code;
    if (!reader) throw new Error("The gateway has not started.");
    if (language !== "sh") return reader.run([join(ROOT, "bin/bun")], `line-${line}.ts`, code);
    if (code === START) {
      await reader.start();
      return "";
    }
    if (note === STOPPED) await reader.stop();
    return reader.paste(code);
  }

  describe(file, () => {
    beforeAll(async () => {
      if (!blocks.some((block) => isRun(block) || (config && !isConfiguration(block)))) return;
      const sections = typeof config === "function" ? config(page) : (config ?? {});
      reader = await Reader.begin(blocks.some(({ code }) => code === START) ? "started by the page" : sections);
      await before?.(reader);
    });
    afterAll(() => reader?.end());

    for (const [index, block] of blocks.entries()) {
      const missing = missingPackages(block);
      if (missing !== "") console.log(`skipped: ${file}: ${missing} not installed`);
      // What follows may need what an earlier block has made.
      const canRun = missing === "" && (index < runnable || !isRun(block));
      test.skipIf(!canRun)(`line ${block.line}, ${labelOf(block)}: ${block.code.split("\n", 1)[0]}`, async () => {
        const output = await outputOf(block);
        const [[, wanted] = []] = expectedOf(block);
        if (typeof wanted === "string") expect(output).toContain(wanted);
        else if (wanted instanceof RegExp) expect(output).toMatch(wanted);
        else if (wanted) await wanted(output, reader as Reader);
        else if (isConfiguration(block)) expect(output).toBe("");
        else if (isRun(block)) expect(output).not.toMatch(/"error": ?\{/);
        else throw new Error("Say what the program has to do with this block, or mark it as an excerpt.");
      });
    }

    test("what is expected of its blocks is expected of one each", () => {
      const found = blocks.flatMap((block) => expectedOf(block).map(([words]) => words));
      expect(found.sort()).toEqual(Object.keys(expected).sort());
    });
  });
}

const isRun = ({ language, note }: Block) =>
  (note === "" && ["sh", "ts", "js"].includes(language)) || (note === STOPPED && language === "sh");
const isConfiguration = ({ language, note }: Block) => note === "" && language === "yaml";

/** How many blocks can run before the first one that calls a program which is not installed. */
function countRunnable(blocks: readonly Block[], file: string): number {
  const first = blocks.findIndex((block) => {
    if (block.language !== "sh" || !isRun(block)) return false;
    const programs = ["curl", "sed", "grep", "base64", "xargs"].filter((name) =>
      new RegExp(`\\b${name} `).test(block.code),
    );
    return programs.length > 0 && !programsPresent(`examples of ${file} from line ${block.line}`, ...programs);
  });
  return first < 0 ? blocks.length : first;
}

function missingPackages({ language, code }: Block): string {
  if (language !== "ts" && language !== "js") return "";
  const imports = new Bun.Transpiler({ loader: "ts" }).scanImports(code).map(({ path }) => path);
  const folderOf = (path: string) => path.split("/", path.startsWith("@") ? 2 : 1).join("/");
  return imports
    .filter((path) => !path.startsWith("node:") && !existsSync(join(ROOT, "node_modules", folderOf(path))))
    .join(", ");
}

/** What the program says about a configuration: mistakes, or else warnings. */
export function problemsOf(code: string, environment = variablesIn(code)): string {
  const folder = mkdtempSync(join(tmpdir(), "trivium-page-"));
  try {
    writeFileSync(join(folder, "trivium.yaml"), code);
    if (code.includes("./service-account.json")) writeFileSync(join(folder, "service-account.json"), serviceAccount());
    return readConfig({ cwd: folder, environment }).warnings.map(tellProblem).join("\n");
  } catch (thrown) {
    return (thrown as Error).message;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A value for each variable that a configuration names. */
export function variablesIn(code: string): Record<string, string> {
  const names = [...code.matchAll(/\$\{(\w+)\}/g)].map(([, name = ""]) => name);
  const exampleOf = (name: string) =>
    name.endsWith("_URL") ? "https://host.example/path" : `the-value-of-${name}-is-long-enough`;
  return Object.fromEntries(names.map((name) => [name, exampleOf(name)]));
}

/** One that could sign in, were there a host. */
function serviceAccount(): string {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const private_key = privateKey.export({ type: "pkcs8", format: "pem" });
  return JSON.stringify({ client_email: "robot@project.example", private_key });
}
