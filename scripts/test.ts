/**
 * Runs tests, type checks, and format and lint:
 *
 *   npm test              what a newcomer runs: no services, no browser, no network
 *   npm run test:all      everything, with PostgreSQL, Redis, nginx, Chromium and many processes
 *   npm run check         after a change: what the change can reach, for some seconds
 *   npm test -- PATHS     these tests, with PostgreSQL where it is installed
 *
 * Files run in parallel in a few processes, because most of them mostly wait; the slowest start first. The last line reads
 * `N passed, N failed, N skipped`, where each static check counts as one; before it are the reasons for skips.
 */
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Glob } from "bun";
import { startPostgres } from "../testing/postgres.ts";
import { createTables } from "../testing/postgres-tables.ts";
import { bundleConsole, compile, programName } from "./build/compile.ts";
import { changedFiles, testsOfChange } from "./changed-tests.ts";
import { isFullTest, secondsOf } from "./test-files.ts";

const root = new URL("..", import.meta.url).pathname;
const { values: options, positionals: chosen } = parseArgs({
  options: { all: { type: "boolean" }, changed: { type: "boolean" }, since: { type: "string" } },
  allowPositionals: true,
});
const counts = { passed: 0, failed: 0, skipped: 0 };
const reasons = new Set<string>();
const failures: string[] = [];
const environment: Record<string, string> = {};
/** Two more than there are cores: tests wait for a quarter of their time, and a process that waits leaves its core to another. */
const WORKERS = Math.min(8, availableParallelism() + 2);
const FOLDERS = ["src", "console", "simulator", "simulation", "testing", "scripts", "conformance"];
/** Far longer than any test takes: a test on a busy machine must not fail. */
const TIMEOUT_MS = 240_000;
/** How much `npm run check` runs of the tests that a change can reach: what these take one after the other. */
const CHECK_SECONDS = 6;
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

/** These files, the slowest first; then how long the slowest took. */
async function everything(title: string, files: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "trivium-tests-"));
  const path = join(folder, "timings.json");
  const timings: Timings = {
    version: 1,
    files: Object.fromEntries(files.map((file) => [file, secondsOf(file) * 1000])),
  };
  try {
    const program = join(folder, programName());
    compile(program, bundleConsole());
    // As it is called in a shell.
    symlinkSync(programName(), join(folder, "trivium"));
    environment["TRIVIUM_TEST_PROGRAM"] = program;
    writeFileSync(path, JSON.stringify(timings));
    const paths = files.map((file) => `./${file}`);
    await suite(title, paths, [`--timings=${path}`, "--update-timings"]);
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

// Several checkers would each look at much of the same again: with one it takes a third of the processor time.
const tsc = (folder: string, name: string) => [
  ...[`${root}bin/bun`, `${root}node_modules/typescript/bin/tsc`, "-p", folder, "--noEmit", "--checkers", "1"],
  ...["--incremental", "--tsBuildInfoFile", `${root}node_modules/.cache/types-${name}.tsbuildinfo`],
];
const biome = [`${root}bin/bun`, `${root}node_modules/@biomejs/biome/bin/biome`, "check"];

/** One after the other: they would take both cores from the tests. */
async function staticChecks(linted: readonly string[] = []): Promise<void> {
  await check("types", tsc(root, "program"));
  await check("types of the console", tsc(`${root}console`, "console"));
  await check("format and lint", [...biome, "--no-errors-on-unmatched", ...linted]);
}

const allFiles = () => FOLDERS.flatMap((one) => [...new Glob(`${one}/**/*.test.ts`).scanSync(root)]);

if (options.changed) {
  const changed = changedFiles(options.since);
  const { tests, left } = testsOfChange(
    changed,
    (file) => (isFullTest(file) ? Infinity : secondsOf(file)),
    CHECK_SECONDS,
  );
  environment["TRIVIUM_TEST_SERVICES"] = "no";
  await Promise.all([staticChecks(changed), suite(`tests of ${changed.length} changed files`, tests)]);
  if (left > 0) console.log(`\n${left} more test files can reach the change: run "npm test"`);
} else if (chosen.length > 0) await withPostgres(() => suite("chosen tests", chosen));
else if (options.all) await Promise.all([staticChecks(), withPostgres(() => everything("all tests", allFiles()))]);
else {
  environment["TRIVIUM_TEST_SERVICES"] = "no";
  await Promise.all([
    staticChecks(),
    everything(
      "tests",
      allFiles().filter((file) => !isFullTest(file)),
    ),
  ]);
}
if (reasons.size > 0) console.log(`\n${[...reasons].sort().join("\n")}`);
if (failures.length > 0) console.log(`\n${[...new Set(failures)].map((name) => `failed: ${name}`).join("\n")}`);
console.log(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exit(counts.failed === 0 ? 0 : 1);
