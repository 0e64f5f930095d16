import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";

/** What the code of some folders names, where a list that could be imported does not exist. */
export interface Vocabulary {
  /** Values: texts in quotes, and the keys of tables. */
  hasValue(word: string): boolean;
  /** Fields: values, and the names that code reads from objects. */
  hasField(name: string): boolean;
}

const ROOT = join(import.meta.dir, "../..");
const COMMENTS = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$|\s\/\/ .*$/gm;
const IMPORTS = /^(?:import|export)\b[^;]*? from "[^"]*";$/gm;
/** The formatter writes texts in double quotes. A template is read like code, for the texts inside. */
const TEXTS = /"((?:[^"\\\n]|\\.)*)"|`([\w.-]+)`/g;
const KEYS = /(?<=[{,(]\s*|^\s*)([A-Za-z_$][\w$]*)(?=\s*:)/gm;
const NAMES = /(?<![\w$])[A-Za-z_$][\w$]*/g;

/** Of the program's own files below these folders of `src`, or of single files. Tests and their samples are not knowledge. */
export function vocabularyOf(paths: readonly string[]): Vocabulary {
  const values = new Set<string>();
  const fields = new Set<string>();
  const files = paths.flatMap((path) => [
    ...new Glob(path.endsWith(".ts") ? `src/${path}` : `src/${path}/**/*.ts`).scanSync(ROOT),
  ]);
  for (const file of files) {
    if (/\.(?:test|sample|child|contract)\.ts$/.test(file)) continue;
    const text = readFileSync(join(ROOT, file), "utf8").replace(COMMENTS, "").replace(IMPORTS, "");
    for (const [, quoted, template] of text.matchAll(TEXTS)) values.add(quoted ?? template ?? "");
    const code = text.replace(TEXTS, '""');
    for (const [key] of code.matchAll(KEYS)) values.add(key);
    for (const [name] of code.matchAll(NAMES)) fields.add(name);
  }
  return { hasValue: (word) => values.has(word), hasField: (name) => values.has(name) || fields.has(name) };
}
