import { arrayAt, isObject, type JsonObject } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { type Billable, CODE_EXECUTION, MCP, WEB_FETCH, WEB_SEARCH } from "../../canon/billable.ts";
import { askedTerms } from "../reading/priced-fields.ts";
import { PRICED_FIELDS } from "./native.ts";

const FUNCTIONS = "functionDeclarations";
/** Tools that other protocols have too. */
const CROSSINGS: ReadonlyMap<string, string> = new Map([
  ["googleSearch", WEB_SEARCH],
  ["urlContext", WEB_FETCH],
  ["codeExecution", CODE_EXECUTION],
  ["mcpServers", MCP],
]);

/** Everything in a request that can cost money besides ordinary tokens. Each member of a tool is one billable. */
export function billables(body: JsonObject): readonly Billable[] {
  const terms = askedTerms(body, PRICED_FIELDS);
  const tools = arrayAt(body, "tools");
  let found: Billable[] | undefined;
  for (let index = 0; index < tools.length; index++) {
    const tool = tools[index];
    if (!isObject(tool)) continue;
    for (const name in tool) {
      if (name === FUNCTIONS || tool[name] === null || tool[name] === undefined) continue;
      found ??= [];
      const crossesAs = CROSSINGS.get(name);
      found.push({ kind: "tool", name, path: `tools[${index}].${name}`, ...withoutAbsent({ crossesAs }) });
    }
  }
  return found === undefined ? terms : [...found, ...terms];
}
