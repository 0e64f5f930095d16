import type { DeclaredType, Shape } from "./declared-type.ts";

/** One type as a reader finds it. Other types are named by id, since types refer to themselves. */
export interface TypeNode<Id> {
  readonly words?: readonly string[];
  readonly numeric?: boolean;
  readonly declared?: { readonly name: string; readonly members: readonly (readonly [string, Id])[] };
  /** The alternatives of a union, the elements of a list. */
  readonly parts?: readonly Id[];
}

/** Types by id, read in any order, and the shapes that they have together. */
export class TypeGraph<Id> {
  readonly #nodes = new Map<Id, TypeNode<Id>>();
  readonly #shapes = new Map<Id, Shape>();
  readonly #types = new Map<Id, DeclaredType>();

  add(id: Id, node: TypeNode<Id>): void {
    this.#nodes.set(id, node);
  }

  shape(id: Id): Shape {
    const known = this.#shapes.get(id);
    if (known !== undefined) return known;
    const words = new Set<string>();
    const types = new Set<DeclaredType>();
    let numeric = false;
    const seen = new Set<Id>();
    const waiting = [id];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const node = this.#nodes.get(next);
      if (node === undefined || seen.has(next)) continue;
      seen.add(next);
      for (const word of node.words ?? []) words.add(word);
      if (node.numeric) numeric = true;
      if (node.declared !== undefined) types.add(this.#type(next, node.declared));
      waiting.push(...(node.parts ?? []).toReversed());
    }
    const shape = { words, types, numeric };
    this.#shapes.set(id, shape);
    return shape;
  }

  #type(id: Id, { name, members }: NonNullable<TypeNode<Id>["declared"]>): DeclaredType {
    const known = this.#types.get(id);
    if (known !== undefined) return known;
    const shapes = new Map<string, Shape>();
    const type = { name, members: shapes };
    this.#types.set(id, type);
    for (const [member, of] of members) shapes.set(member, this.shape(of));
    return type;
  }
}
