/**
 * `npm run mutations`: would a unit test notice? Changes one place of the core at a time, in a copy of the tree, and runs the
 * unit tests. A change that no test notices is printed: either a test is missing, or the place says nothing.
 *
 * Options: `--count 40`, `--seed 1` (which places are chosen), `--folder src/relay` (may be given several times).
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Glob } from "bun";

const FOLDERS = ["src/relay", "src/routing", "src/access", "src/ledger"];
const TEST_TIMEOUT_MS = 120_000;

interface Mutation {
  file: string;
  line: number;
  start: number;
  end: number;
  was: string;
  becomes: string;
}

/** What stands for what. The formatter puts a space on either side of an operator, and none around the angles of a type. */
const CHANGES: readonly { pattern: RegExp; becomes: (was: string) => string }[] = [
  { pattern: /(?<= )<(?= )/g, becomes: () => "<=" },
  { pattern: /(?<= )<=(?= )/g, becomes: () => "<" },
  { pattern: /(?<= )>(?= )/g, becomes: () => ">=" },
  { pattern: /(?<= )>=(?= )/g, becomes: () => ">" },
  { pattern: /(?<= )===(?= )/g, becomes: () => "!==" },
  { pattern: /(?<= )!==(?= )/g, becomes: () => "===" },
  { pattern: /(?<= )&&(?= )/g, becomes: () => "||" },
  { pattern: /(?<= )\|\|(?= )/g, becomes: () => "&&" },
  { pattern: /(?<= )\+(?= )/g, becomes: () => "-" },
  { pattern: /(?<= )-(?= )/g, becomes: () => "+" },
  { pattern: /(?<= )\*(?= )/g, becomes: () => "/" },
  { pattern: /(?<= )\+=(?= )/g, becomes: () => "-=" },
  { pattern: /(?<= )-=(?= )/g, becomes: () => "+=" },
  { pattern: /!(?=[\w(])/g, becomes: () => "" },
  { pattern: /(?<=[=(:?] |return )true\b/g, becomes: () => "false" },
  { pattern: /(?<=[=(:?] |return )false\b/g, becomes: () => "true" },
  { pattern: /(?<=\bMath\.)(min|max)\b/g, becomes: (was) => (was === "min" ? "max" : "min") },
  // A step that is left out.
  { pattern: /(?<=^ +)(?:await )?[\w.#?]+\([^\n]*\);$/gm, becomes: () => ";" },
];

/** The text with everything blank that is no code: places in it are places in the text. */
function codeOf(text: string): string {
  const blank = (found: string) => found.replaceAll(/[^\n]/g, " ");
  return text.replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g, blank);
}

const transpiler = new Bun.Transpiler({ loader: "ts" });

/** Whether it is a program; types do not matter. */
function parses(text: string): boolean {
  try {
    transpiler.transformSync(text);
    return true;
  } catch {
    return false;
  }
}

function mutationsOf(root: string, file: string): Mutation[] {
  const text = readFileSync(join(root, file), "utf8");
  const code = codeOf(text);
  const found: Mutation[] = [];
  for (const { pattern, becomes } of CHANGES) {
    for (const { 0: masked, index: start } of code.matchAll(pattern)) {
      const end = start + masked.length;
      const mutation = { file, line: text.slice(0, start).split("\n").length, start, end, was: text.slice(start, end) };
      found.push({ ...mutation, becomes: becomes(mutation.was) });
    }
  }
  return found.filter((mutation) => parses(apply(text, mutation)));
}

const apply = (text: string, { start, end, becomes }: Mutation): string =>
  text.slice(0, start) + becomes + text.slice(end);

/** Mulberry32: the same seed chooses the same places. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function choose(all: Mutation[], count: number, seed: number): Mutation[] {
  const random = randomFrom(seed);
  const chosen: Mutation[] = [];
  while (chosen.length < count && all.length > 0) {
    chosen.push(...all.splice(Math.floor(random() * all.length), 1));
  }
  return chosen;
}

/** Whether the unit tests fail. */
async function isNoticed(copy: string, folders: readonly string[]): Promise<boolean> {
  const tests = Bun.spawn(["bin/bun", "test", "--bail", "--timeout", "20000", ...folders.map((one) => `./${one}`)], {
    cwd: copy,
    stdout: "ignore",
    stderr: "ignore",
    timeout: TEST_TIMEOUT_MS,
  });
  return (await tests.exited) !== 0;
}

function copyTree(root: string): string {
  const copy = mkdtempSync(join(tmpdir(), "trivium-mutations-"));
  for (const part of ["src", "simulator", "testing", "bin", "fixtures", "package.json", "tsconfig.json", "docs"]) {
    cpSync(join(root, part), join(copy, part), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  return copy;
}

const oneLine = (text: string): string => text.trim().replaceAll(/\s+/g, " ").slice(0, 90);

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      count: { type: "string", default: "40" },
      seed: { type: "string", default: "1" },
      folder: { type: "string", multiple: true, default: FOLDERS },
    },
  });
  const root = new URL("..", import.meta.url).pathname;
  const files = values.folder.flatMap((folder) =>
    [...new Glob(`${folder}/**/*.ts`).scanSync(root)].filter(
      (file) => !/\.(test|sample|child|contract)\.ts$/.test(file),
    ),
  );
  const all = files.sort().flatMap((file) => mutationsOf(root, file));
  const places = all.length;
  const chosen = choose(all, Number(values.count), Number(values.seed));
  const copy = copyTree(root);
  const survivors: Mutation[] = [];
  try {
    if (await isNoticed(copy, values.folder)) throw new Error("The unit tests fail without any change.");
    for (const [index, mutation] of chosen.entries()) {
      const path = join(copy, mutation.file);
      const text = readFileSync(path, "utf8");
      writeFileSync(path, apply(text, mutation));
      const noticed = await isNoticed(copy, values.folder);
      writeFileSync(path, text);
      if (!noticed) survivors.push(mutation);
      const { file, line } = mutation;
      const row = (source: string) => oneLine(source.split("\n")[line - 1] ?? "");
      const verdict = noticed ? "noticed " : "SURVIVED";
      console.log(
        `${String(index + 1).padStart(3)} ${verdict} ${file}:${line}  ${row(text)}  →  ${row(apply(text, mutation))}`,
      );
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
  const noticed = chosen.length - survivors.length;
  console.log(`\n${noticed} of ${chosen.length} changes noticed (${places} places in ${files.length} files)`);
  return noticed / chosen.length >= 0.9 ? 0 : 1;
}

process.exitCode = await main();
