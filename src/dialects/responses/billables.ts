import { type JsonObject, numberAt } from "../../base/json.ts";
import type { Billable } from "../../canon/billable.ts";
import { billableTools } from "../billable-tools.ts";
import { askedTerms } from "../priced-fields.ts";
import { PRICED_FIELDS } from "./native.ts";
import { toolName } from "./tool-name.ts";

/** What of a request can cost money besides ordinary tokens. */
export function billables(body: JsonObject): readonly Billable[] {
  const terms = askedTerms(body, PRICED_FIELDS);
  const most = numberAt(body, "max_tool_calls");
  const tools = billableTools(body["tools"], "tools", (tool, type) => ({
    name: toolName(tool, type),
    ...(most === undefined ? {} : { most }),
  }));
  return terms.length === 0 ? tools : [...tools, ...terms];
}
