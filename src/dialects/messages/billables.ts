import { type JsonObject, numberAt } from "../../base/json.ts";
import type { Billable } from "../../canon/billable.ts";
import { LONG_CONTEXT } from "../../canon/terms.ts";
import { billableTools } from "../billable-tools.ts";
import { askedTerms } from "../priced-fields.ts";
import { PRICED_FIELDS } from "./native.ts";
import { isLongContextBeta, type MessagesOptions } from "./options.ts";

/** What of a request can cost money besides ordinary tokens. */
export function billables(body: JsonObject, { betas }: MessagesOptions): readonly Billable[] {
  const tools = billableTools(body["tools"], "tools", (tool, type) => {
    const most = numberAt(tool, "max_uses");
    return { name: type, ...(most === undefined ? {} : { most }) };
  });
  const terms = askedTerms(body, PRICED_FIELDS);
  const beta = betas.find(isLongContextBeta);
  if (terms.length === 0 && beta === undefined) return tools;
  const long: Billable[] = beta === undefined ? [] : [{ kind: "term", name: LONG_CONTEXT, path: `beta ${beta}` }];
  return [...tools, ...terms, ...long];
}
