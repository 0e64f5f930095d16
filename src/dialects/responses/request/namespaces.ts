import { arrayAt, type JsonObject, stringAt } from "../../../base/json.ts";

/** Where a tool stands that the model is given under a name of its own. */
export interface NamespacedTool {
  namespace: string;
  name: string;
}

/**
 * No other protocol has namespaces of tools: there a tool's name begins with that of its namespace. Clients run only what is
 * called by both names again (R6).
 */
export class Namespaces {
  readonly #flat = new Map<string, string>();
  readonly #tools = new Map<string, NamespacedTool>();

  /** `tools`: as the request has them. */
  constructor(tools: readonly unknown[]) {
    const taken = new Set(tools.flatMap((tool) => (isNamespace(tool) ? [] : (stringAt(tool, "name") ?? []))));
    for (const space of tools) {
      if (!isNamespace(space)) continue;
      const namespace = stringAt(space, "name") ?? "";
      for (const tool of arrayAt(space, "tools")) {
        const name = stringAt(tool, "name");
        if (name !== undefined && !this.#flat.has(keyOf(namespace, name))) this.#add({ namespace, name }, taken);
      }
    }
  }

  /** The name of a tool as the model is given it. */
  flatName(namespace: string | undefined, name: string): string {
    if (namespace === undefined) return name;
    return this.#flat.get(keyOf(namespace, name)) ?? flatNameOf({ namespace, name });
  }

  /** Both names of a tool that the model calls by one. */
  toolOf(flatName: string): NamespacedTool | undefined {
    return this.#tools.get(flatName);
  }

  #add(tool: NamespacedTool, taken: Set<string>): void {
    let flat = flatNameOf(tool);
    while (taken.has(flat)) flat += "_";
    taken.add(flat);
    this.#flat.set(keyOf(tool.namespace, tool.name), flat);
    this.#tools.set(flat, tool);
  }
}

export const isNamespace = (tool: unknown): tool is JsonObject => stringAt(tool, "type") === "namespace";

const flatNameOf = ({ namespace, name }: NamespacedTool): string => `${namespace}__${name}`;

const keyOf = (namespace: string, name: string): string => JSON.stringify([namespace, name]);
