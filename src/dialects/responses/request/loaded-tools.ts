import { arrayAt, isObject, type JsonObject, stringAt } from "../../../base/json.ts";

/** Items that add tools to a conversation: search results, and tools from the client (H51). */
const LOADING: ReadonlySet<string | undefined> = new Set(["tool_search_output", "additional_tools"]);

interface LoadedTool {
  raw: JsonObject;
  path: string;
}

export const loadsTools = (item: unknown): boolean => LOADING.has(stringAt(item, "type"));

/** Tools that items of the input add, without those that the request itself lists. */
export function loadedTools(body: JsonObject): readonly LoadedTool[] {
  const known = new Set(arrayAt(body, "tools").map(nameOf));
  return arrayAt(body, "input").flatMap((item, index): LoadedTool[] => {
    if (!loadsTools(item)) return [];
    return arrayAt(item, "tools").flatMap((raw, place) => {
      const name = nameOf(raw);
      if (!isObject(raw) || name === undefined || known.has(name)) return [];
      known.add(name);
      return [{ raw, path: `input[${index}].tools[${place}]` }];
    });
  });
}

/** Hosted tools, and those that the dialect knows, have only a type. */
const nameOf = (tool: unknown): string | undefined => stringAt(tool, "name") ?? stringAt(tool, "type");
