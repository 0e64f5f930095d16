/**
 * `npm test`: all tests, the type check, format and lint. Files run in parallel in a few processes, because most of them
 * mostly wait; the slowest start first. The last line reads `N passed, N failed, N skipped`, where each static check counts as
 * one; before it are the reasons for skips.
 */
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { Glob } from "bun";
import { startPostgres } from "../testing/postgres.ts";
import { createTables } from "../testing/postgres-tables.ts";
import { bundleConsole, compile, programName } from "./build/compile.ts";
import { SLOW_TESTS } from "./slow-tests.ts";

const root = new URL("..", import.meta.url).pathname;
const chosen = process.argv.slice(2);
const counts = { passed: 0, failed: 0, skipped: 0 };
const reasons = new Set<string>();
const failures: string[] = [];
const environment: Record<string, string> = {};
/** Two more than there are cores: tests wait for a quarter of their time, and a process that waits leaves its core to another. */
const WORKERS = Math.min(8, availableParallelism() + 2);
const FOLDERS = ["src", "console", "simulator", "simulation", "testing", "scripts", "conformance"];
/** Far longer than any test takes: a test on a busy machine must not fail. */
const TIMEOUT_MS = 240_000;
/** What the runner takes a file for that is not among the slow ones. One that it knows nothing of would start before them. */
const USUAL_SECONDS = 0.2;
const SLOWEST_SHOWN = 12;
/**
 * Without its last compiler, the runtime spends a tenth less on tests: hardly any of them repeats a thing often enough to earn it back.
 * Memory is given back as seldom as `bin/trivium` has it (docs/decisions/0073).
 */
const RUNTIME_OPTIONS = { BUN_JSC_useFTLJIT: "0", MIMALLOC_PURGE_HOLES_MIN_INTERVAL: "10000" };

/** Runs a command and passes its output on as it arrives. */
async function run(command: string[], say: (text: string) => void): Promise<{ code: number; output: string }> {
  const child = Bun.spawn(command, {
    cwd: root,
    stdout: "pipe",
    stderr: "pipe",
    env: { ...process.env, ...RUNTIME_OPTIONS, ...environment, BUN_CONFIG_MAX_HTTP_REQUESTS: "65535" },
  });
  let output = "";
  const show = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const part of stream) {
      const text = decoder.decode(part, { stream: true });
      output += text;
      say(text);
    }
  };
  await Promise.all([show(child.stdout), show(child.stderr)]);
  return { code: await child.exited, output };
}

/** Its output is printed at the end, in one piece, because tests run in parallel. */
async function check(title: string, command: string[]): Promise<void> {
  const { code, output } = await run(command, () => {});
  process.stdout.write(`\n── ${title}: ${code === 0 ? "passed" : "failed"}\n${output}\n`);
  counts[code === 0 ? "passed" : "failed"]++;
  if (code !== 0) failures.push(title);
}

/** Bun ends a run with lines such as ` 12 pass`; a run without them was interrupted. */
async function suite(title: string, paths: string[], more: string[] = []): Promise<void> {
  const parallel = [`--parallel=${WORKERS}`, "--no-isolate", "--timeout", String(TIMEOUT_MS), ...more];
  console.log(`\n── ${title}`);
  const { code, output } = await run([`${root}bin/bun`, "test", ...parallel, ...paths], (text) => {
    process.stdout.write(text);
  });
  const count = (word: string) => Number(new RegExp(`^ *(\\d+) ${word}$`, "m").exec(output)?.[1] ?? 0);
  counts.passed += count("pass");
  counts.skipped += count("skip") + count("todo");
  counts.failed += Math.max(count("fail"), code === 0 ? 0 : 1);
  for (const [line] of output.matchAll(/^skipped: .*$/gm)) reasons.add(line);
  failures.push(...failedTests(output));
}

/** Each with its file: a hook that fails has no name, and some names occur in several files. */
function failedTests(output: string): string[] {
  const failed: string[] = [];
  let file = "";
  for (const line of output.split("\n")) {
    file = /^(\S+\.test\.ts):$/.exec(line)?.[1] ?? file;
    // Bun ends with a list of all failures, below the name of the last file.
    if (/^\d+ tests? failed:$/.test(line)) break;
    const name = /^\(fail\) (.*?)(?: \[[\d.]+ms\])?$/.exec(line)?.[1];
    if (name !== undefined)
      failed.push(name === "(unnamed)" ? `${file}: a hook or the file itself` : `${file}: ${name}`);
  }
  return failed;
}

interface Timings {
  version: 1;
  /** Milliseconds of each file. */
  files: Record<string, number>;
}

/** Every test, the slowest files first; then how long the slowest took. */
async function everything(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "trivium-tests-"));
  const path = join(folder, "timings.json");
  const files = FOLDERS.flatMap((one) => [...new Glob(`${one}/**/*.test.ts`).scanSync(root)]);
  const expected = files.map((file): [string, number] => [file, (SLOW_TESTS[file] ?? USUAL_SECONDS) * 1000]);
  const timings: Timings = { version: 1, files: Object.fromEntries(expected) };
  try {
    const program = join(folder, programName());
    compile(program, bundleConsole());
    // As it is called in a shell.
    symlinkSync(programName(), join(folder, "trivium"));
    environment["TRIVIUM_TEST_PROGRAM"] = program;
    writeFileSync(path, JSON.stringify(timings));
    const paths = FOLDERS.map((one) => `./${one}`);
    await suite("tests", paths, [`--timings=${path}`, "--update-timings"]);
    const taken = Object.entries((JSON.parse(readFileSync(path, "utf8")) as Timings).files);
    const slowest = taken.sort(([, one], [, other]) => other - one).slice(0, SLOWEST_SHOWN);
    const lines = slowest.map(([file, ms]) => `${(ms / 1000).toFixed(1).padStart(6)} s  ${file}`);
    console.log(`\nthe slowest files\n${lines.join("\n")}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What is stored is also tested on PostgreSQL where it is installed; under CI it must be. */
async function withPostgres(work: () => Promise<void>): Promise<void> {
  const postgres = process.env["TRIVIUM_TEST_POSTGRES"] ? undefined : await startPostgres();
  if (postgres) {
    environment["TRIVIUM_TEST_POSTGRES"] = postgres.url;
    environment["TRIVIUM_TEST_POSTGRES_TABLES"] = await createTables(postgres.url);
  } else if (process.env["CI"] === "true" && !process.env["TRIVIUM_TEST_POSTGRES"]) {
    failures.push("PostgreSQL is not installed, but CI must test the storage on it");
    counts.failed++;
  }
  try {
    await work();
  } finally {
    await postgres?.stop();
  }
}

/** One after the other: they would take both cores from the tests. */
async function staticChecks(): Promise<void> {
  // Several checkers would each look at much of the same again: with one it takes a third of the processor time.
  const tsc = [`${root}bin/bun`, `${root}node_modules/typescript/bin/tsc`, "--noEmit", "--checkers", "1"];
  await check("types", [...tsc, "-p", root]);
  await check("types of the console", [...tsc, "-p", `${root}console`]);
  await check("format and lint", [`${root}bin/bun`, `${root}node_modules/@biomejs/biome/bin/biome`, "check"]);
}

if (chosen.length > 0) await withPostgres(() => suite("chosen tests", chosen));
else await Promise.all([staticChecks(), withPostgres(everything)]);
if (reasons.size > 0) console.log(`\n${[...reasons].sort().join("\n")}`);
if (failures.length > 0) console.log(`\n${[...new Set(failures)].map((name) => `failed: ${name}`).join("\n")}`);
console.log(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exit(counts.failed === 0 ? 0 : 1);
