/**
 * `npm test`: types, format and lint, then every test. The last line reads `N passed, N failed, N skipped`, where each of
 * the two static checks counts as one.
 */
import { existsSync } from "node:fs";

const root = new URL("..", import.meta.url).pathname;
const tests = process.argv.slice(2);
const counts = { passed: 0, failed: 0, skipped: 0 };

async function run(title: string, command: string[]): Promise<{ code: number; output: string }> {
  console.log(`\n── ${title}`);
  const child = Bun.spawn(command, {
    cwd: root,
    stdout: "pipe",
    stderr: "pipe",
    env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: "65535" },
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

if (tests.length > 0) await suite("chosen tests", tests);
else {
  await check("types", [`${root}bin/bun`, `${root}node_modules/typescript/bin/tsc`, "--noEmit", "-p", root]);
  await check("format and lint", [`${root}bin/bun`, `${root}node_modules/@biomejs/biome/bin/biome`, "check"]);
  await suite("unit tests", ["./src", "./scripts"]);
  if (existsSync(`${root}conformance`)) await suite("conformance", ["./conformance"]);
}
console.log(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exit(counts.failed === 0 ? 0 : 1);
