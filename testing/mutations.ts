/**
 * `npm run mutations`: would a unit test notice? Changes one place of the core at a time, in a copy of the tree, and runs the
 * unit tests. A change that no test notices is printed: either a test is missing, or the place says nothing.
 *
 * Options: `--count 40`, `--seed 1` (which places are chosen), `--folder src/relay` (may be given several times), or
 * `--folder src/relay/settle/settle.ts` for one file. Some folders are tested from elsewhere: `TESTED_FROM`.
 */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { Glob } from "bun";

const FOLDERS = ["src/relay", "src/routing", "src/access", "src/ledger"];
/** Where the unit tests are of what has none beside it. */
const TESTED_FROM: Readonly<Record<string, readonly string[]>> = {
  "src/services": ["src/services", "src/relay/service"],
  "src/storage/tables/answers.ts": ["src/answers"],
  "src/relay/request/recall.ts": ["src/relay", "src/answers"],
};
/** Tests of a whole gateway in memory: no sockets, no disk, no waiting. */
const IN_MEMORY = "conformance/memory";
/** A change may make a loop endless. Tests that take this many times as long as without it are ended, which is as good as failed. */
const MAX_SLOWDOWN = 3;
const MIN_TIMEOUT_MS = 15_000;
/** For one test: some look at thousands of drawn cases, and the machine may have other work. */
const TEST_TIMEOUT_MS = 60_000;

interface Mutation {
  file: string;
  line: number;
  start: number;
  end: number;
  was: string;
  becomes: string;
  /** For people. */
  shown: string;
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

/** The program without its types; undefined if it does not parse. */
function programOf(text: string): string | undefined {
  try {
    return transpiler.transformSync(text);
  } catch {
    return undefined;
  }
}

const SHOWN_BESIDE = 50;

/** The change in its line: `if (used [< → <=] budget) continue;` */
function shownIn(text: string, { start, end, was, becomes }: Omit<Mutation, "shown">): string {
  const before = text.slice(text.lastIndexOf("\n", start) + 1, start).trimStart();
  const after = text.slice(end).split("\n", 1)[0] ?? "";
  return `${before.slice(-SHOWN_BESIDE)}[${was} → ${becomes}]${after.slice(0, SHOWN_BESIDE)}`;
}

function mutationsOf(root: string, file: string): Mutation[] {
  const text = readFileSync(join(root, file), "utf8");
  const code = codeOf(text);
  const found: Mutation[] = [];
  for (const { pattern, becomes } of CHANGES) {
    for (const { 0: masked, index: start } of code.matchAll(pattern)) {
      const end = start + masked.length;
      const was = text.slice(start, end);
      const line = text.slice(0, start).split("\n").length;
      const mutation = { file, line, start, end, was, becomes: becomes(was) };
      found.push({ ...mutation, shown: shownIn(text, mutation) });
    }
  }
  const program = programOf(text);
  return found.filter((mutation) => {
    const changed = programOf(apply(text, mutation));
    // A change of a type alone leaves the program as it is.
    return changed !== undefined && changed !== program;
  });
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

type Verdict = "noticed" | "hung" | "SURVIVED";

/** What the unit tests of these folders, or of this file, say within a time. */
async function runTests(copy: string, folders: readonly string[], timeoutMs: number): Promise<Verdict> {
  const tests = Bun.spawn(
    ["bin/bun", "test", "--bail", "--timeout", String(TEST_TIMEOUT_MS), ...folders.map((one) => `./${one}`)],
    {
      cwd: copy,
      stdout: "ignore",
      stderr: "ignore",
      timeout: timeoutMs,
      killSignal: "SIGKILL",
    },
  );
  const code = await tests.exited;
  if (tests.signalCode === "SIGKILL") return "hung";
  return code === 0 ? "SURVIVED" : "noticed";
}

/** Makes the change, runs the tests, and takes it back. */
async function tryOut(copy: string, mutation: Mutation, folders: readonly string[], timeoutMs: number) {
  const path = join(copy, mutation.file);
  const text = readFileSync(path, "utf8");
  writeFileSync(path, apply(text, mutation));
  // The tests of the file most likely notice, then those of its folder, so all the others are seldom needed.
  const beside = mutation.file.replace(/\.ts$/, ".test.ts");
  const near = Object.entries(TESTED_FROM).find(([path]) => mutation.file.startsWith(path))?.[1] ?? [];
  const own = folders.filter((folder) => mutation.file.startsWith(`${folder}/`) || near.includes(folder));
  const others = folders.filter((folder) => !own.includes(folder));
  let verdict: Verdict = "SURVIVED";
  for (const tests of [existsSync(join(copy, beside)) ? [beside] : [], own, others]) {
    if (verdict === "SURVIVED" && tests.length > 0) verdict = await runTests(copy, tests, timeoutMs);
  }
  writeFileSync(path, text);
  return verdict;
}

function copyTree(root: string): string {
  const copy = mkdtempSync(join(tmpdir(), "trivium-mutations-"));
  for (const part of [
    "src",
    "simulator",
    "testing",
    IN_MEMORY,
    "conformance/support",
    "bin",
    "fixtures",
    "package.json",
    "tsconfig.json",
    "docs",
  ]) {
    cpSync(join(root, part), join(copy, part), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  return copy;
}

/** Where tests are: a folder stands for itself, a file for its folder. */
const testFolders = (path: string): readonly string[] =>
  TESTED_FROM[path] ?? [path.endsWith(".ts") ? dirname(path) : path];

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      count: { type: "string", default: "40" },
      seed: { type: "string", default: "1" },
      folder: { type: "string", multiple: true, default: FOLDERS },
    },
  });
  const root = new URL("..", import.meta.url).pathname;
  const files = values.folder
    .flatMap((one) => (one.endsWith(".ts") ? [one] : [...new Glob(`${one}/**/*.ts`).scanSync(root)]))
    .filter((file) => !/\.(test|sample|child|contract)\.ts$/.test(file));
  const all = files.sort().flatMap((file) => mutationsOf(root, file));
  const places = all.length;
  const chosen = choose(all, Number(values.count), Number(values.seed));
  const folders = [...new Set([...values.folder.flatMap(testFolders), IN_MEMORY])];
  const copy = copyTree(root);
  const survivors: Mutation[] = [];
  try {
    const startedMs = performance.now();
    if ((await runTests(copy, folders, 600_000)) !== "SURVIVED") throw new Error("The tests fail without any change.");
    const timeoutMs = Math.ceil(Math.max(MIN_TIMEOUT_MS, MAX_SLOWDOWN * (performance.now() - startedMs)));
    for (const [index, mutation] of chosen.entries()) {
      const verdict = await tryOut(copy, mutation, folders, timeoutMs);
      if (verdict === "SURVIVED") survivors.push(mutation);
      console.log(
        `${String(index + 1).padStart(3)} ${verdict.padEnd(8)} ${mutation.file}:${mutation.line}  ${mutation.shown}`,
      );
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
  const noticed = chosen.length - survivors.length;
  console.log(`\n${noticed} of ${chosen.length} mutations detected (${places} places in ${files.length} files)`);
  return noticed / chosen.length >= 0.9 ? 0 : 1;
}

process.exitCode = await main();
