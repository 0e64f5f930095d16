/**
 * `npm test`: types, format and lint, then every test. The last line reads `N passed, N failed, N skipped`, where each of
 * the two static checks counts as one.
 */
import { existsSync } from "node:fs";
import { startPostgres } from "./postgres.ts";

const root = new URL("..", import.meta.url).pathname;
const tests = process.argv.slice(2);
const counts = { passed: 0, failed: 0, skipped: 0 };
const environment: Record<string, string> = {};

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
}

/** Bun ends a run with lines such as ` 12 pass`; a run without them has not come to its end. */
async function suite(title: string, folders: string[]): Promise<void> {
  const { code, output } = await run(title, [`${root}bin/bun`, "test", "--timeout", "30000", ...folders]);
  const count = (word: string) => Number(new RegExp(`^ *(\\d+) ${word}$`, "m").exec(output)?.[1] ?? 0);
  counts.passed += count("pass");
  counts.skipped += count("skip") + count("todo");
  counts.failed += Math.max(count("fail"), code === 0 ? 0 : 1);
}

/** What is stored is also tested on PostgreSQL where it is installed; under CI it must be. */
async function withPostgres(work: () => Promise<void>): Promise<void> {
  const postgres = process.env["TRIVIUM_TEST_POSTGRES"] ? undefined : await startPostgres();
  if (postgres) environment["TRIVIUM_TEST_POSTGRES"] = postgres.url;
  else if (process.env["CI"] === "true" && !process.env["TRIVIUM_TEST_POSTGRES"]) {
    console.log("failed: PostgreSQL is not installed, and under CI the storage must be tested on it");
    counts.failed++;
  }
  try {
    await work();
  } finally {
    await postgres?.stop();
  }
}

if (tests.length > 0) await withPostgres(() => suite("chosen tests", tests));
else {
  await check("types", [`${root}bin/bun`, `${root}node_modules/typescript/bin/tsc`, "--noEmit", "-p", root]);
  await check("format and lint", [`${root}bin/bun`, `${root}node_modules/@biomejs/biome/bin/biome`, "check"]);
  await withPostgres(async () => {
    await suite("unit tests", ["./src", "./scripts"]);
    if (existsSync(`${root}conformance`)) await suite("conformance", ["./conformance"]);
  });
}
console.log(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exit(counts.failed === 0 ? 0 : 1);
