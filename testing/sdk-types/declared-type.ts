/** A type with members that an SDK declares, whichever language it is written in. */
export interface DeclaredType {
  /** With the namespaces around it: `ResponseInputItem.McpCall`. */
  readonly name: string;
  /** By the name on the wire. */
  readonly members: ReadonlyMap<string, Shape>;
}

/** What a value may be, with unions, lists and optional types flattened. */
export interface Shape {
  /** String literals, including the values of enums. */
  readonly words: ReadonlySet<string>;
  readonly types: ReadonlySet<DeclaredType>;
  /** May be a number. */
  readonly numeric: boolean;
}

/** A type of an SDK by its file and its name, as `resources/completions.d.ts` and `CompletionUsage`. */
export interface Root {
  readonly file: string;
  readonly type: string;
}

/** Every type that a shape leads to, each once. */
export function typesIn(...shapes: readonly Shape[]): ReadonlySet<DeclaredType> {
  const found = new Set<DeclaredType>();
  const waiting = shapes.flatMap(({ types }) => [...types]);
  for (let type = waiting.pop(); type !== undefined; type = waiting.pop()) {
    if (found.has(type)) continue;
    found.add(type);
    for (const { types } of type.members.values()) waiting.push(...types);
  }
  return found;
}

/** The values that the members of that name may have, in every type of a union. */
export const wordsOf = ({ types }: Shape, member: string): string[] =>
  [...types].flatMap(({ members }) => [...(members.get(member)?.words ?? [])]);
