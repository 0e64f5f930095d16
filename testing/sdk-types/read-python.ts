import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Root, Shape } from "./declared-type.ts";
import { TypeGraph, type TypeNode } from "./type-graph.ts";

interface Options {
  /** The wire has `camelCase` where the source has `snake_case`. */
  camel?: boolean;
}

/**
 * Reads types from the sources of unpacked Python packages, with everything that they lead to: pydantic models, typed dictionaries, enums and
 * aliases, as generators of SDKs write them. The text is enough for that, so no interpreter is needed. Each root's file is a path below `folder`;
 * a root that the packages do not declare is undefined.
 */
export function readPython(
  folder: string,
  roots: readonly Root[],
  { camel = false }: Options = {},
): (Shape | undefined)[] {
  const reader = new PythonReader(camel);
  const ids = roots.map(({ file, type }) => reader.find(join(folder, file), type));
  return ids.map((id) => (id === undefined ? undefined : reader.graph.shape(id)));
}

/** A module: what it declares, and where its other names come from. */
interface Module {
  readonly file: string;
  /** Bases and indented text. */
  readonly classes: ReadonlyMap<string, { readonly bases: string; readonly body: string }>;
  readonly aliases: ReadonlyMap<string, string>;
  readonly imports: ReadonlyMap<string, { readonly file: string; readonly name: string }>;
}

const NAME = /(?<![\w.])[A-Z_]\w*/g;
const LITERALS = /\bLiteral\[([^\]]*)\]/g;
const STRINGS = /"([^"\n]*)"|'([^'\n]*)'/g;

class PythonReader {
  readonly graph = new TypeGraph<string>();
  readonly #camel: boolean;
  readonly #modules = new Map<string, Module>();
  readonly #seen = new Set<string>();

  constructor(camel: boolean) {
    this.#camel = camel;
  }

  /** The id of a type, which is read with everything that it leads to; undefined if the module has no such name. */
  find(file: string, name: string): string | undefined {
    const module = this.#module(file);
    const declared = module.classes.get(name) ?? module.aliases.get(name);
    if (declared === undefined) {
      const from = module.imports.get(name);
      return from === undefined ? undefined : this.find(from.file, from.name);
    }
    const id = `${file}:${name}`;
    if (this.#seen.has(id)) return id;
    this.#seen.add(id);
    const node =
      typeof declared === "string" ? this.#expression(module, declared) : this.#class(module, name, declared);
    this.graph.add(id, node);
    return id;
  }

  #module(file: string): Module {
    const known = this.#modules.get(file);
    if (known !== undefined) return known;
    const module = readModule(file);
    this.#modules.set(file, module);
    return module;
  }

  #class(module: Module, name: string, { bases, body }: { bases: string; body: string }): TypeNode<string> {
    if (/Enum\b/.test(bases)) {
      return { words: [...body.matchAll(/^ +\w+ = ["']([^"'\n]+)["']/gm)].map(([, value = ""]) => value) };
    }
    const inherited = [...bases.matchAll(NAME)].flatMap(([base]) => this.#membersOf(module, base));
    return { declared: { name, members: [...inherited, ...this.#members(module, name, body)] } };
  }

  /** The members that a base class adds. */
  #membersOf(module: Module, base: string): (readonly [string, string])[] {
    const own = module.classes.get(base);
    if (own !== undefined) {
      const inherited = [...own.bases.matchAll(NAME)].flatMap(([outer]) => this.#membersOf(module, outer));
      return [...inherited, ...this.#members(module, base, own.body)];
    }
    const fields = module.aliases.get(base);
    // TypedDict("Name", { "reserved word": type }).
    if (fields !== undefined) {
      return [...fields.matchAll(/"(\w+)": ((?:[^,[\]}]|\[[^\]]*\])+)/g)].map(([, field = "", type = ""]) => [
        field,
        this.#member(module, `${base}.${field}`, type),
      ]);
    }
    const from = module.imports.get(base);
    return from === undefined ? [] : this.#membersOf(this.#module(from.file), from.name);
  }

  #members(module: Module, owner: string, body: string): [string, string][] {
    const indent = /^ +/.exec(body)?.[0] ?? "";
    return [...body.matchAll(new RegExp(`^${indent}(?!_|else\\b|try\\b)(\\w+): *`, "gm"))].map(
      ({ 0: head, 1: field = "", index }) => {
        const type = balanced(body, index + head.length);
        const alias = /\balias="(\w+)"/.exec(type)?.[1];
        const wire = alias ?? (this.#camel ? camelCase(field) : field);
        return [wire, this.#member(module, `${owner}.${field}`, type.split(/ = /)[0] ?? "")];
      },
    );
  }

  #member(module: Module, place: string, type: string): string {
    const id = `${module.file}:${place}`;
    this.graph.add(id, this.#expression(module, type));
    return id;
  }

  /** A type expression: its literals, and the names in it that this package declares. */
  #expression(module: Module, type: string): TypeNode<string> {
    const words = [...type.matchAll(LITERALS)].flatMap(([, list = ""]) =>
      [...list.matchAll(STRINGS)].map(([, one, other]) => one ?? other ?? ""),
    );
    const names = type.replace(LITERALS, "").replace(/\bPropertyInfo\([^)]*\)/g, "");
    const parts = [...new Set([...names.matchAll(NAME)].map(([name]) => name))].flatMap((name) => {
      const found = this.find(module.file, name);
      return found ?? [];
    });
    return { words, parts, numeric: /\b(?:int|float)\b/.test(names) };
  }
}

function readModule(file: string): Module {
  const classes = new Map<string, { bases: string; body: string }>();
  const aliases = new Map<string, string>();
  const imports = new Map<string, { file: string; name: string }>();
  if (!existsSync(file)) return { file, classes, aliases, imports };
  const text = withoutRemarks(readFileSync(file, "utf8"));
  for (const [, from = "", some, one] of text.matchAll(/^ *from (\.[\w.]*) import (?:\(([^)]*)\)|(.+))$/gm)) {
    for (const [, name = "", as] of (some ?? one ?? "").matchAll(/(\w+)(?: as (\w+))?/g)) {
      const origin = moduleFile(dirname(file), from);
      // Private modules hold the machinery of models.
      if (!/\/_[a-z]\w*\.py$/.test(origin)) imports.set(as ?? name, { file: origin, name });
    }
  }
  for (const { 0: head, 1: name = "", 2: bases = "", index } of text.matchAll(/^class (\w+)(?:\(([^)]*)\))?:/gm)) {
    const from = index + head.length;
    const end = /^\S/m.exec(text.slice(from))?.index ?? text.length;
    classes.set(name, { bases, body: text.slice(from, from + end).replace(/^\s*\n/, "") });
  }
  // Some are chosen by what is installed, and are then indented.
  for (const { 0: head, 1: name = "", index } of text.matchAll(/^ *(\w+)(?:: *TypeAlias)? = /gm)) {
    aliases.set(name, [aliases.get(name) ?? [], balanced(text, index + head.length)].flat().join(" | "));
  }
  return { file, classes, aliases, imports };
}

/** Docstrings hold examples, which look like code. */
const withoutRemarks = (text: string): string =>
  text.replace(/[rf]?"""[\s\S]*?"""/g, '""').replace(/(?:^|\s)#.*$/gm, "");

/** `..shared.metadata` as seen from a folder. A package is its `__init__.py`. */
function moduleFile(folder: string, from: string): string {
  const dots = /^\.+/.exec(from)?.[0].length ?? 1;
  const path = join(
    folder,
    ...Array.from({ length: dots - 1 }, () => ".."),
    ...from.slice(dots).split(".").filter(Boolean),
  );
  return existsSync(`${path}.py`) ? `${path}.py` : join(path, "__init__.py");
}

/** The text up to the end of its line, or of the line on which its last bracket is closed. */
function balanced(text: string, from: number): string {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const char = text[at] ?? "";
    if ("([{".includes(char)) depth++;
    else if (")]}".includes(char)) depth--;
    else if (char === "\n" && depth <= 0) return text.slice(from, at);
  }
  return text.slice(from);
}

const camelCase = (name: string): string => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
