import { arrayAt, type JsonObject, stringAt } from "../../base/json.ts";
import { type Billable, WEB_SEARCH } from "../../canon/billable.ts";
import { askedTerms } from "../reading/priced-fields.ts";
import { PRICED_FIELDS } from "./native.ts";
import { SEARCH } from "./request/tools.ts";

/** Everything in a request that can cost money besides ordinary tokens: tools that a host runs, and the service tier. */
export function billables(body: JsonObject): readonly Billable[] {
  const terms = askedTerms(body, PRICED_FIELDS);
  let found: Billable[] | undefined;
  for (const [index, tool] of arrayAt(body, "tools").entries()) {
    const name = stringAt(tool, "type");
    if (name === undefined || name === "function") continue;
    found ??= [];
    found.push({ kind: "tool", name, path: `tools[${index}].type`, ...(name === SEARCH ? CROSSES : {}) });
  }
  return found === undefined ? terms : [...found, ...terms];
}

/** Other protocols have a web search too. */
const CROSSES = { crossesAs: WEB_SEARCH };
