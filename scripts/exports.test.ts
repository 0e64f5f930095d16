import { expect, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";

const ROOT = join(import.meta.dir, "..");
const FOLDERS = "{src,console,simulator,simulation,testing,conformance,scripts,bench}";
const VALUE = /^export (?:async |abstract )?(?:const|let|function\*?|class) ([\w$]+)/gm;

/**
 * Checks whether a name occurs anywhere else. Two things with the same name can hide an unused export, but there are no false
 * reports.
 */
test("every value that a file of src or of the console exports is used in another file", async () => {
  const files = [...new Glob(`${FOLDERS}/**/*.{ts,tsx}`).scanSync(ROOT)];
  const texts = await Promise.all(files.map((file) => Bun.file(join(ROOT, file)).text()));
  const filesWith = new Map<string, number>();
  for (const text of texts) {
    for (const word of new Set(text.match(/[\w$]+/g))) filesWith.set(word, (filesWith.get(word) ?? 0) + 1);
  }
  const unused = files.flatMap((file, index) => {
    if (!file.startsWith("src/") && !file.startsWith("console/")) return [];
    const names = [...(texts[index] ?? "").matchAll(VALUE)].map(([, name = ""]) => name);
    return names.filter((name) => filesWith.get(name) === 1).map((name) => `${file}: ${name}`);
  });
  expect(unused).toEqual([]);
});
