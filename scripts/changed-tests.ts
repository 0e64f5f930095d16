import { existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { importGraph, reachedFrom } from "./import-graph.ts";

const root = new URL("..", import.meta.url).pathname;
/** They read the whole tree, so that no import leads to them, and take little time. */
const TESTS_OF_THE_TREE = ["scripts/arrows.test.ts", "scripts/exports.test.ts", "scripts/injected.test.ts"];

function git(...args: string[]): string[] {
  const { stdout, stderr, exitCode } = Bun.spawnSync(["git", ...args], { cwd: root });
  if (exitCode !== 0) throw new Error(`git ${args.join(" ")}: ${stderr.toString()}`);
  return stdout.toString().split("\n").filter(Boolean);
}

/** What differs from `since`, by default what is not committed; without any such file, what the last commit changed. */
export function changedFiles(since = "HEAD"): string[] {
  const differing = [...git("diff", "--name-only", since), ...git("ls-files", "--others", "--exclude-standard")];
  const changed = differing.length > 0 ? differing : git("diff", "--name-only", "HEAD~1");
  return changed.filter((file) => existsSync(root + file));
}

const isTest = (file: string) => file.endsWith(".test.ts");

/**
 * The tests that a change can reach, as many as fit into `seconds`: first those that read the whole tree and those that changed, then the
 * others by the number of imports between them and the change, those in the same folder before others. `left` is how many did not fit.
 */
export function testsOfChange(
  changed: readonly string[],
  secondsOf: (test: string) => number,
  seconds: number,
): { tests: string[]; left: number } {
  const graph = importGraph("values");
  const distances = reachedFrom(
    changed.filter((file) => graph.has(file)),
    graph,
  );
  // No import leads from a document or from data to its tests, but they name it.
  const unimported = changed.filter((file) => !graph.has(file));
  if (unimported.length > 0) {
    for (const test of [...graph.keys()].filter(isTest)) {
      const text = readFileSync(root + test, "utf8");
      if (unimported.some((file) => text.includes(file))) distances.set(test, 1);
    }
  }
  for (const test of TESTS_OF_THE_TREE) distances.set(test, 0);
  const folders = new Set(changed.map(dirname));
  const order = [...distances]
    .filter(([file]) => isTest(file))
    .map(([file, distance]): [string, number] => [file, folders.has(dirname(file)) ? distance / 2 : distance]);
  order.sort(([one, near], [other, far]) => near - far || secondsOf(one) - secondsOf(other));
  const tests: string[] = [];
  let left = 0;
  let sum = 0;
  for (const [test, distance] of order) {
    if (distance === 0 || sum + secondsOf(test) <= seconds) {
      sum += secondsOf(test);
      tests.push(test);
    } else left += 1;
  }
  return { tests, left };
}
