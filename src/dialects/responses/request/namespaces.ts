import { arrayAt, type JsonObject, stringAt } from "../../../base/json.ts";
import { builtInTool } from "./built-in-tools.ts";

/** The original position of a tool that the model gets under a flat name. */
export interface NamespacedTool {
  namespace: string;
  name: string;
}

/**
 * No other protocol has tool namespaces. There, a tool's name starts with its namespace. Clients only run calls that have both names again
 * (R6).
 */
export class Namespaces {
  readonly #flat = new Map<string, string>();
  readonly #tools = new Map<string, NamespacedTool>();
  readonly #builtIn = new Set<string>();
  /** By bare names, for those that only one tool has. */
  readonly #bare = new Map<string, NamespacedTool | undefined>();

  /** `tools`: as in the request. */
  constructor(tools: readonly unknown[]) {
    const taken = new Set<string>(tools.flatMap((tool) => (isNamespace(tool) ? [] : (stringAt(tool, "name") ?? []))));
    for (const space of tools) {
      const builtIn = builtInTool(space)?.name;
      if (builtIn !== undefined && !taken.has(builtIn)) this.#builtIn.add(builtIn);
      if (!isNamespace(space)) continue;
      const namespace = stringAt(space, "name") ?? "";
      for (const tool of arrayAt(space, "tools")) {
        const name = stringAt(tool, "name");
        if (name !== undefined && !this.#flat.has(keyOf(namespace, name))) this.#add({ namespace, name }, taken);
      }
    }
  }

  /** The name of a tool for the model. */
  flatName(namespace: string | undefined, name: string): string {
    if (namespace === undefined) return name;
    return this.#flat.get(keyOf(namespace, name)) ?? flatNameOf({ namespace, name });
  }

  /** The function that stands for a tool known by its type, unless the request has none or another tool of that name. */
  builtInName(type: string | undefined): string | undefined {
    return type !== undefined && this.#builtIn.has(type) ? type : undefined;
  }

  /** Both names of a tool that the model called by its flat name, or by its own if an item of the conversation added it. */
  toolOf(name: string): NamespacedTool | undefined {
    return this.#tools.get(name) ?? this.#bare.get(name);
  }

  #add(tool: NamespacedTool, taken: Set<string>): void {
    let flat = flatNameOf(tool);
    while (taken.has(flat)) flat += "_";
    taken.add(flat);
    this.#bare.set(tool.name, this.#bare.has(tool.name) || taken.has(tool.name) ? undefined : tool);
    this.#flat.set(keyOf(tool.namespace, tool.name), flat);
    this.#tools.set(flat, tool);
  }
}

export const isNamespace = (tool: unknown): tool is JsonObject => stringAt(tool, "type") === "namespace";

const flatNameOf = ({ namespace, name }: NamespacedTool): string => `${namespace}__${name}`;

const keyOf = (namespace: string, name: string): string => JSON.stringify([namespace, name]);
