/**
 * `npm run simulate:mutations`: would the simulation notice? Puts one bug of `bugs.ts` at a time into a copy of the
 * tree and runs seeds until one fails. Each bug must be found within `MAX_CALLS` calls. `-- --bug lease` selects bugs
 * by name.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Bug } from "./bug.ts";
import { BUGS } from "./bugs.ts";

const MAX_CALLS = 20_000;
const CALLS_PER_SEED = 250;
const FIRST_SEED = 1;

const root = new URL("..", import.meta.url).pathname;

/** The result for one bug: after how many calls it was found, and by which rule. */
async function hunt(copy: string, bug: Bug): Promise<{ calls: number; rule: string } | undefined> {
  const path = join(copy, bug.file);
  const text = readFileSync(path, "utf8");
  if (text.split(bug.was).length !== 2) throw new Error(`${bug.file} does not have this once: ${bug.was}`);
  writeFileSync(
    path,
    text.replace(bug.was, () => bug.becomes),
  );
  try {
    const seeds = String(MAX_CALLS / CALLS_PER_SEED);
    const options = [
      "--seed",
      String(FIRST_SEED),
      "--seeds",
      seeds,
      "--calls",
      String(CALLS_PER_SEED),
      "--until-broken",
      ...(bug.isOfInstances ? ["--tiny-limits"] : []),
    ];
    const child = Bun.spawn(["bin/bun", "simulation/main.ts", ...options], {
      cwd: copy,
      stdout: "pipe",
      stderr: "ignore",
    });
    const output = await new Response(child.stdout).text();
    const found = /^found after (\d+) calls: (.*)$/m.exec(output);
    return found ? { calls: Number(found[1]), rule: found[2] ?? "" } : undefined;
  } finally {
    writeFileSync(path, text);
  }
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { bug: { type: "string", default: "" } } });
  const copy = mkdtempSync(join(tmpdir(), "trivium-bugs-"));
  let missed = 0;
  try {
    for (const part of ["src", "simulator", "simulation", "testing", "bin", "package.json", "tsconfig.json"]) {
      cpSync(join(root, part), join(copy, part), { recursive: true });
    }
    symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
    for (const bug of BUGS.filter(({ name }) => name.includes(values.bug))) {
      const found = await hunt(copy, bug);
      if (found === undefined) missed++;
      const verdict = found ? `after ${String(found.calls).padStart(5)} calls` : "NOT FOUND        ";
      console.log(`${verdict}  ${bug.name}${found ? `  (${found.rule})` : ""}`);
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
  console.log(missed === 0 ? `each found within ${MAX_CALLS} calls` : `${missed} not found within ${MAX_CALLS} calls`);
  return missed === 0 ? 0 : 1;
}

process.exitCode = await main();
