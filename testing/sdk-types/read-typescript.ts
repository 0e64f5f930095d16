import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import {
  API,
  type Project,
  SymbolFlags,
  type Type,
  TypeFlags,
  type Symbol as TypeSymbol,
} from "typescript/unstable/async";
import type { Root, Shape } from "./declared-type.ts";
import { TypeGraph, type TypeNode } from "./type-graph.ts";

/**
 * Reads types from the declarations of installed packages, with everything that they lead to. The compiler resolves imports, inheritance and
 * derived types. `modules` is a `node_modules`, and each root's file is a path below it. A root that the packages do not declare is undefined. `edit`
 * changes a file before it is read.
 */
export async function readTypeScript(
  modules: string,
  roots: readonly Root[],
  edit?: (file: string) => string | undefined,
): Promise<(Shape | undefined)[]> {
  const folder = resolve(modules);
  const scratch = mkdtempSync(join(tmpdir(), "trivium-types-"));
  const api = new API(edit === undefined ? { cwd: folder } : { cwd: folder, fs: { readFile: edit } });
  try {
    const config = join(scratch, "tsconfig.json");
    writeFileSync(config, JSON.stringify({ compilerOptions: OPTIONS, files: filesOf(folder, roots) }));
    const project = (await api.updateSnapshot({ openProject: config })).getProject(config);
    if (project === undefined) throw new Error(`The compiler does not open ${config}.`);
    const reader = new TypeReader(project, folder, packagesOf(roots));
    const types = await Promise.all(roots.map((root) => reader.root(root)));
    const graph = await reader.graph();
    return types.map((type) => type && graph.shape(type.id));
  } finally {
    await api.close();
    rmSync(scratch, { recursive: true, force: true });
  }
}

const OPTIONS = {
  module: "esnext",
  moduleResolution: "bundler",
  target: "esnext",
  lib: ["esnext"],
  types: [],
  strict: true,
  noEmit: true,
};

const filesOf = (folder: string, roots: readonly Root[]): string[] =>
  [...new Set(roots.map(({ file }) => join(folder, file)))].filter((file) => existsSync(file));

/** `@scope/name` or `name`. */
const packagesOf = (roots: readonly Root[]): string[] =>
  roots.map(({ file }) => /^(?:@[^/]+\/)?[^/]+\//.exec(file)?.[0] ?? "");

/** Asks the compiler, which is another process, about each type once. */
class TypeReader {
  readonly #project: Project;
  readonly #folder: string;
  /** In lower case, as the compiler writes paths on some systems. */
  readonly #packages: readonly string[];
  readonly #graph = new TypeGraph<number>();
  /** Types that were seen and not read yet, each with the place of one without a name. */
  #waiting: [Type, string][] = [];
  readonly #seen = new Set<number>();

  constructor(project: Project, folder: string, packages: readonly string[]) {
    this.#project = project;
    this.#folder = folder;
    this.#packages = [...new Set(packages)].map((name) => join(folder, name).toLowerCase());
  }

  async root({ file, type }: Root): Promise<Type | undefined> {
    const { checker, program } = this.#project;
    const source = await program.getSourceFile(join(this.#folder, file));
    let symbol = source && (await checker.getSymbolAtLocation(source));
    for (const name of type.split(".")) {
      symbol = symbol && (await checker.getExportsOfModule(symbol)).find((each) => each.name === name);
    }
    if (symbol === undefined) return undefined;
    const declared = await checker.getDeclaredTypeOfSymbol(symbol);
    this.#see(declared, type);
    return declared;
  }

  /** Everything that the roots lead to. */
  async graph(): Promise<TypeGraph<number>> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      await Promise.all(
        batch.map(async ([type, place]) => {
          this.#graph.add(type.id, await this.#read(type, place));
        }),
      );
    }
    return this.#graph;
  }

  #see(type: Type, place: string): number {
    if (!this.#seen.has(type.id)) {
      this.#seen.add(type.id);
      this.#waiting.push([type, place]);
    }
    return type.id;
  }

  async #read(type: Type, place: string): Promise<TypeNode<number>> {
    const { checker } = this.#project;
    if (type.isUnionType()) return { parts: this.#seeAll(await type.getTypes(), place) };
    if (type.isStringLiteralType()) return { words: [String(type.value)] };
    if (type.flags & TypeFlags.NumberLike) return { numeric: true };
    if (type.isIntersectionType()) {
      // `string & {}` is how a union keeps its literals next to any string.
      const isText = (await type.getTypes()).some(({ flags }) => flags & TypeFlags.StringLike);
      return isText ? {} : this.#readMembers(type, await this.#nameOf(type, place));
    }
    if (type.isTypeParameter()) {
      const bound = await checker.getBaseConstraintOfType(type);
      return bound === undefined ? {} : { parts: this.#seeAll([bound], place) };
    }
    if (!type.isObjectType()) return {};
    if (!(await checker.isArrayType(type)) && (await this.#isOwn(type))) {
      return this.#readMembers(type, await this.#nameOf(type, place));
    }
    // Of the language's own types only containers matter: what a list or a record holds.
    const held = type.isTypeReference() ? await checker.getTypeArguments(type) : [];
    const indexed = await checker.getIndexInfosOfType(type);
    return { parts: this.#seeAll([...held, ...indexed.map(({ valueType }) => valueType)], place) };
  }

  #seeAll(types: readonly Type[], place: string): number[] {
    return types.map((type) => this.#see(type, place));
  }

  async #readMembers(type: Type, name: string): Promise<TypeNode<number>> {
    const { checker } = this.#project;
    const all = await checker.getPropertiesOfType(type);
    // Files and helpers of the library have methods. What they compute is not on the wire.
    if (all.some(({ flags }) => flags & SymbolFlags.Method)) return {};
    const properties = all.filter(({ name, flags }) => !(flags & SymbolFlags.Accessor) && !name.startsWith("__@"));
    const types = properties.length === 0 ? [] : await checker.getTypeOfSymbol(properties);
    const members = properties.flatMap((property, index): [string, number][] => {
      const of = types[index];
      return of === undefined ? [] : [[property.name, this.#see(of, `${name}.${property.name}`)]];
    });
    const indexed = await checker.getIndexInfosOfType(type);
    const parts = this.#seeAll(
      indexed.map(({ valueType }) => valueType),
      name,
    );
    return members.length === 0 ? { parts } : { declared: { name, members }, parts };
  }

  /** Types of the runtime and of other packages are not entered, unless they are made of members of this one, such as `Omit<…>`. */
  async #isOwn(type: Type): Promise<boolean> {
    if (this.#declares(await type.getSymbol())) return true;
    if (type.isTypeReference() || type.isClassOrInterface()) return false;
    const members = await this.#project.checker.getPropertiesOfType(type);
    return members.some((member) => this.#declares(member));
  }

  #declares(symbol: TypeSymbol | undefined): boolean {
    const paths = symbol?.declarations.map(({ path }) => path.toLowerCase()) ?? [];
    return paths.some((path) => this.#packages.some((folder) => path.startsWith(folder)));
  }

  /** With its namespaces. A type without a name has that of its place. */
  async #nameOf(type: Type, place: string): Promise<string> {
    const symbol = (await type.getAliasSymbol()) ?? (await type.getSymbol());
    if (symbol === undefined || !NAME.test(symbol.name)) return place;
    const names = [symbol.name];
    for (let outer = await symbol.getParent(); outer && NAME.test(outer.name); outer = await outer.getParent()) {
      names.unshift(outer.name);
    }
    return names.join(".");
  }
}

/** A name in the source. The compiler's own, such as those of files and of types without a name, look different. */
const NAME = /^[A-Za-z]\w*$/;
