/**
 * `npm test`: types, format and lint, then every test. Files run in parallel in a few processes, since most of them
 * wait for something most of the time. The last line reads `N passed, N failed, N skipped`, where each of the two static
 * checks counts as one; before it stands why something was skipped.
 */
import { availableParallelism } from "node:os";
import { startPostgres } from "../testing/postgres.ts";

const root = new URL("..", import.meta.url).pathname;
const chosen = process.argv.slice(2);
const counts = { passed: 0, failed: 0, skipped: 0 };
const reasons = new Set<string>();
const failures: string[] = [];
const environment: Record<string, string> = {};
/** One more than there are cores: a process that waits leaves its core to another. */
const WORKERS = Math.min(8, availableParallelism() + 1);

async function run(title: string, command: string[]): Promise<{ code: number; output: string }> {
  console.log(`\n── ${title}`);
  const child = Bun.spawn(command, {
    cwd: root,
    stdout: "pipe",
    stderr: "pipe",
    env: { ...process.env, ...environment, BUN_CONFIG_MAX_HTTP_REQUESTS: "65535" },
  });
  let output = "";
  const show = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const part of stream) {
      const text = decoder.decode(part, { stream: true });
      output += text;
      process.stdout.write(text);
    }
  };
  await Promise.all([show(child.stdout), show(child.stderr)]);
  return { code: await child.exited, output };
}

async function check(title: string, command: string[]): Promise<void> {
  const { code } = await run(title, command);
  counts[code === 0 ? "passed" : "failed"]++;
  if (code !== 0) failures.push(title);
}

/** Bun ends a run with lines such as ` 12 pass`; a run without them has not come to its end. */
async function suite(title: string, paths: string[]): Promise<void> {
  const parallel = [`--parallel=${WORKERS}`, "--no-isolate", "--timeout", "60000"];
  const { code, output } = await run(title, [`${root}bin/bun`, "test", ...parallel, ...paths]);
  const count = (word: string) => Number(new RegExp(`^ *(\\d+) ${word}$`, "m").exec(output)?.[1] ?? 0);
  counts.passed += count("pass");
  counts.skipped += count("skip") + count("todo");
  counts.failed += Math.max(count("fail"), code === 0 ? 0 : 1);
  for (const [line] of output.matchAll(/^skipped: .*$/gm)) reasons.add(line);
  for (const [, name = ""] of output.matchAll(/^\(fail\) (.*?)(?: \[[\d.]+ms\])?$/gm)) failures.push(name);
}

/** What is stored is also tested on PostgreSQL where it is installed; under CI it must be. */
async function withPostgres(work: () => Promise<void>): Promise<void> {
  const postgres = process.env["TRIVIUM_TEST_POSTGRES"] ? undefined : await startPostgres();
  if (postgres) environment["TRIVIUM_TEST_POSTGRES"] = postgres.url;
  else if (process.env["CI"] === "true" && !process.env["TRIVIUM_TEST_POSTGRES"]) {
    failures.push("PostgreSQL is not installed, and under CI the storage must be tested on it");
    counts.failed++;
  }
  try {
    await work();
  } finally {
    await postgres?.stop();
  }
}

if (chosen.length > 0) await withPostgres(() => suite("chosen tests", chosen));
else {
  await check("types", [`${root}bin/bun`, `${root}node_modules/typescript/bin/tsc`, "--noEmit", "-p", root]);
  await check("format and lint", [`${root}bin/bun`, `${root}node_modules/@biomejs/biome/bin/biome`, "check"]);
  await withPostgres(() =>
    suite("tests", ["./src", "./simulator", "./simulation", "./testing", "./scripts", "./conformance"]),
  );
}
if (reasons.size > 0) console.log(`\n${[...reasons].sort().join("\n")}`);
if (failures.length > 0) console.log(`\n${[...new Set(failures)].map((name) => `failed: ${name}`).join("\n")}`);
console.log(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exit(counts.failed === 0 ? 0 : 1);
