import { readFileSync } from "node:fs";
import { Glob } from "bun";

/** One interface or type of a declaration file: what it is called, and its text without comments. */
interface Declaration {
  /** With the namespaces around it. */
  name: string;
  text: string;
}

/** A field that a type declares. */
export interface DeclaredField {
  name: string;
  /** The types that have it. */
  owners: readonly string[];
}

const BEGINNINGS =
  /(?:export )?(?:declare )?(?:namespace ([\w.]+) \{|interface (\w+)(?:<[^>]*>)?([^{]*)\{|(?:declare )?class (\w+)[^{]*\{|type (\w+)(?:<[^>]*>)? =)/g;

/**
 * The fields of every type that these types lead to, in a package's own declarations. The compiler that this project uses has no
 * interface to ask, so the text is read: a name that two files declare counts as both.
 */
export function declaredFields(pattern: string, roots: readonly string[]): DeclaredField[] {
  const declarations = new Map<string, Declaration[]>();
  for (const file of new Glob(pattern).scanSync({ cwd: "node_modules", absolute: true })) {
    for (const declaration of declarationsIn(withoutComments(readFileSync(file, "utf8")))) {
      const last = declaration.name.split(".").at(-1) ?? "";
      declarations.set(last, [...(declarations.get(last) ?? []), declaration]);
    }
  }
  const find = (written: string, scope: string): Declaration[] => {
    const last = written.split(".").at(-1) ?? "";
    const named = declarations.get(last) ?? [];
    for (let outer = scope; ; outer = outer.split(".").slice(0, -1).join(".")) {
      const exact = named.filter(({ name }) => name === (outer === "" ? written : `${outer}.${written}`));
      if (exact.length > 0) return exact;
      if (outer === "") break;
    }
    // By the alias of an import: `Shared.Metadata`.
    return named.filter(({ name }) => name === last || name.endsWith(`.${written}`));
  };
  const owners = new Map<string, Set<string>>();
  const seen = new Set<Declaration>();
  const waiting = roots.flatMap((root) => {
    const found = find(root, "");
    if (found.length === 0) throw new Error(`${pattern} declares no ${root}`);
    return found;
  });
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    for (const [, field = ""] of next.text.matchAll(/(?:^|[{;,]|readonly)\s*'?"?([\w$]+)'?"?\??:/gm)) {
      owners.set(field, (owners.get(field) ?? new Set()).add(next.name));
    }
    for (const [written] of next.text.matchAll(/\b[A-Z]\w*(?:\.[A-Z]\w*)*/g)) waiting.push(...find(written, next.name));
  }
  return [...owners].map(([name, types]) => ({ name, owners: [...types].sort() }));
}

const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");

function* declarationsIn(text: string, scope = ""): Generator<Declaration> {
  BEGINNINGS.lastIndex = 0;
  for (let match = BEGINNINGS.exec(text); match !== null; match = BEGINNINGS.exec(text)) {
    const [whole, namespace, named, bases, classed, alias] = match;
    const from = match.index + whole.length;
    const end = alias === undefined ? closing(text, from) : endOfType(text, from);
    const body = text.slice(from, end);
    const of = (name: string) => (scope === "" ? name : `${scope}.${name}`);
    if (namespace !== undefined) yield* declarationsIn(body, of(namespace));
    else if (classed === undefined) yield { name: of(named ?? alias ?? ""), text: `${bases ?? ""}{${body}}` };
    BEGINNINGS.lastIndex = end;
  }
}

/** Where the brace is closed that was opened before. */
function closing(text: string, from: number): number {
  let depth = 1;
  for (let at = from; at < text.length; at++) {
    if (text[at] === "{") depth++;
    else if (text[at] === "}" && --depth === 0) return at;
  }
  return text.length;
}

function endOfType(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const char = text[at] ?? "";
    if ("{([".includes(char)) depth++;
    else if ("})]".includes(char)) depth--;
    else if (char === ";" && depth === 0) return at;
  }
  return text.length;
}
