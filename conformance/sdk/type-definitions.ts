import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Reads type definitions as text: enough of them to find the members of unions and interfaces. The compiler of this repository has no
 * programming interface.
 */
export class TypeDefinitions {
  readonly #text: string;

  constructor(text: string) {
    // Comments hold examples, which look like code.
    this.#text = text.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/^\s*\/\/.*$/gm, "");
  }

  static of(path: string): TypeDefinitions {
    return new TypeDefinitions(readFileSync(join(import.meta.dir, "../../node_modules", path), "utf8"));
  }

  /** The right side of `type Name = …;`. */
  aliased(name: string): string {
    const found = new RegExp(String.raw`\btype ${escaped(name)}\s*=([^;]*);`).exec(this.#text)?.[1];
    if (found === undefined) throw new Error(`there is no type ${name}`);
    return found;
  }

  /** The names in a union of types, without namespaces. */
  unionOf(name: string): string[] {
    return this.aliased(name)
      .replaceAll(/Array<|>|\(|\)/g, " ")
      .split("|")
      .map((member) => member.trim().split(".").at(-1) ?? "")
      .filter((member) => /^[A-Z]\w*$/.test(member));
  }

  /** The bodies of every interface, class or enum of that name: namespaces may have one each. */
  bodies(name: string): string[] {
    const begins = new RegExp(String.raw`\b(?:interface|class|enum) ${escaped(name)}(?:\s+extends\s+[^{]+)?\s*\{`, "g");
    return [...this.#text.matchAll(begins)].map(({ index, 0: head }) => this.#body(index + head.length));
  }

  #body(start: number): string {
    let depth = 1;
    let at = start;
    for (; at < this.#text.length && depth > 0; at++) {
      if (this.#text[at] === "{") depth++;
      if (this.#text[at] === "}") depth--;
    }
    return this.#text.slice(start, at - 1);
  }

  /** The types of a member of that interface, in each place where it is declared. */
  member(name: string, member: string): string[] {
    const declared = new RegExp(String.raw`(?:^|[;\n{])\s*${escaped(member)}\??:([^;]*);`);
    return this.bodies(name).flatMap((body) => declared.exec(body)?.[1] ?? []);
  }

  /** The names of its members whose type matches. */
  membersOf(name: string, type = /./): string[] {
    const members = this.bodies(name).flatMap((body) => [...body.matchAll(/(?:^|[;\n])\s*(\w+)\??:\s*([^;]*);/g)]);
    return members.filter(([, , of = ""]) => type.test(of)).map(([, found = ""]) => found);
  }

  /** The values of an enum. */
  valuesOf(name: string): string[] {
    return this.bodies(name).flatMap(literals);
  }
}

const escaped = (name: string): string => name.replaceAll("$", String.raw`\$`);

/** The texts in quotes. */
export const literals = (type: string): string[] =>
  [...type.matchAll(/'([^']*)'|"([^"]*)"/g)].map(([, one, other]) => one ?? other ?? "");
