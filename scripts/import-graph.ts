import { readFileSync } from "node:fs";
import { Glob } from "bun";

const root = new URL("..", import.meta.url).pathname;
const SOURCES = "{src,console,simulator,simulation,testing,scripts,bench,conformance}/**/*.{ts,tsx}";

const STATEMENT = /^(?:import|export)( type)?\s+(?:[\w$]+,?\s+)?(?:[{*][^;"]*?)?(?:from\s+)?"(\.{1,2}\/[^"]+)"/gm;
const LATER = /\bimport\(\s*"(\.{1,2}\/[^"]+)"/g;

/** The files that a file imports, from the root of the checkout: values, types, and modules that it loads later. */
export function importsOf(file: string, which: "all" | "values" = "all"): string[] {
  const text = readFileSync(root + file, "utf8");
  const found: (string | undefined)[] = [...text.matchAll(LATER)].map(([, target]) => target);
  for (const [, type, target] of text.matchAll(STATEMENT)) if (which === "all" || !type) found.push(target);
  return found.map((target = "") => new URL(target, `file:///${file}`).pathname.slice(1));
}

/** Every source file with the files that it imports. */
export function importGraph(which: "all" | "values" = "all"): Map<string, string[]> {
  const files = [...new Glob(SOURCES).scanSync(root)];
  return new Map(files.map((file) => [file, importsOf(file, which)]));
}

/** The files that reach one of `changed` through their imports, with the length of the shortest way. */
export function reachedFrom(
  changed: readonly string[],
  graph: ReadonlyMap<string, readonly string[]>,
): Map<string, number> {
  const importers = new Map<string, string[]>();
  for (const [file, imports] of graph) {
    for (const imported of imports) {
      const known = importers.get(imported);
      if (known === undefined) importers.set(imported, [file]);
      else known.push(file);
    }
  }
  const distances = new Map(changed.map((file) => [file, 0]));
  const queue = [...distances.keys()];
  for (const file of queue) {
    for (const importer of importers.get(file) ?? []) {
      if (distances.has(importer)) continue;
      distances.set(importer, (distances.get(file) ?? 0) + 1);
      queue.push(importer);
    }
  }
  return distances;
}
