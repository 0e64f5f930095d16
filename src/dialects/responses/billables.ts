import { arrayAt, type JsonObject, numberAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { Billable } from "../../canon/billable.ts";
import { billableTools, type ReadTool, staying } from "../reading/billable-tools.ts";
import { moderationBillable } from "../reading/moderation-billable.ts";
import { askedTerms } from "../reading/priced-fields.ts";
import { toolName } from "./answer/tool-name.ts";
import { PRICED_FIELDS } from "./native.ts";
import { loadsTools } from "./request/loaded-tools.ts";

/** What can cost money in a request besides ordinary tokens. */
export function billables(body: JsonObject): readonly Billable[] {
  const terms = askedTerms(body, PRICED_FIELDS);
  const most = numberAt(body, "max_tool_calls");
  const read: ReadTool = (tool, type) => ({ name: toolName(tool, type), ...withoutAbsent({ most }) });
  const tools = billableTools(body["tools"], "tools", read);
  const loaded = loadedBillables(body, read);
  const moderation = moderationBillable(body);
  if (moderation !== undefined) return [...tools, ...loaded, ...terms, moderation];
  return terms.length + loaded.length === 0 ? tools : [...tools, ...loaded, ...terms];
}

/** Tools that items of the input add. */
function loadedBillables(body: JsonObject, read: ReadTool): readonly Billable[] {
  let found: Billable[] | undefined;
  const input = arrayAt(body, "input");
  for (let index = 0; index < input.length; index++) {
    const item = input[index];
    if (!loadsTools(item)) continue;
    found ??= [];
    for (const tool of billableTools(arrayAt(item, "tools"), `input[${index}].tools`, read)) found.push(staying(tool));
  }
  return found ?? NONE;
}

const NONE: readonly Billable[] = [];
