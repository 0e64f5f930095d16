import { arrayAt, isObject, type JsonObject } from "../../base/json.ts";
import { type Billable, WEB_SEARCH } from "../../canon/billable.ts";
import { askedTerms } from "../reading/priced-fields.ts";
import { PRICED_FIELDS } from "./native.ts";

const FUNCTIONS = "functionDeclarations";
/** Tools that search the web, the only ones that other protocols have too. */
const SEARCHES: ReadonlySet<string> = new Set(["googleSearch", "googleSearchRetrieval"]);

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
      const crosses = SEARCHES.has(name) ? { crossesAs: WEB_SEARCH } : {};
      found.push({ kind: "tool", name, path: `tools[${index}].${name}`, ...crosses });
    }
  }
  return found === undefined ? terms : [...found, ...terms];
}
