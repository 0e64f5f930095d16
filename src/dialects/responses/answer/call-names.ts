import { arrayAt, type JsonObject, stringAt } from "../../../base/json.ts";
import { loadedTools } from "../request/loaded-tools.ts";
import { isNamespace, Namespaces } from "../request/namespaces.ts";

/** The client's view of a tool that the model called. */
interface CalledTool {
  name: string;
  namespace?: string;
  /** It takes free text. If the model got a function instead, its single argument is that text. */
  custom: boolean;
}

/** The client's names and kinds of its tools, by the names that the model got. */
export class CallNames {
  readonly #namespaces: Namespaces;
  readonly #custom = new Set<string>();

  constructor(request: JsonObject) {
    const tools = [...arrayAt(request, "tools"), ...loadedTools(request).map(({ raw }) => raw)];
    this.#namespaces = new Namespaces(tools);
    for (const tool of tools) {
      if (isNamespace(tool)) for (const inner of arrayAt(tool, "tools")) this.#note(inner, stringAt(tool, "name"));
      else this.#note(tool, undefined);
    }
  }

  #note(tool: unknown, namespace: string | undefined): void {
    const name = stringAt(tool, "name");
    if (name !== undefined && stringAt(tool, "type") === "custom")
      this.#custom.add(this.#namespaces.flatName(namespace, name));
  }

  toolOf(flatName: string): CalledTool {
    const custom = this.#custom.has(flatName);
    return { name: flatName, ...this.#namespaces.toolOf(flatName), custom };
  }
}
