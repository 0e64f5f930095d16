import { arrayAt, isObject, type JsonObject, numberAt, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { type Billable, WEB_SEARCH } from "../../canon/billable.ts";
import { billableTools } from "../reading/billable-tools.ts";
import { moderationBillable } from "../reading/moderation-billable.ts";
import { askedTerms } from "../reading/priced-fields.ts";
import { PRICED_FIELDS } from "./native.ts";

/** What can cost money in a request besides ordinary tokens. */
export function billables(body: JsonObject): readonly Billable[] {
  const tools = billableTools(body["tools"], "tools", (_tool, type) => ({ name: type }));
  const terms = askedTerms(body, PRICED_FIELDS);
  const search = body["web_search_options"];
  const live = body["search_parameters"];
  const plugins = body["plugins"];
  const custom = body["compound_custom"];
  const moderation = moderationBillable(body);
  const isSwitched = body[ENABLE_SEARCH.name] === true || body[ENABLE_CODE.name] === true;
  const isPlain = terms.length === 0 && !isSwitched && plugins === undefined;
  if (isPlain && !isObject(search) && !isObject(live) && !isObject(custom)) {
    return moderation === undefined ? tools : [...tools, moderation];
  }
  const found: Billable[] = [...tools, ...terms];
  if (moderation !== undefined) found.push(moderation);
  if (isObject(search)) found.push(SEARCH);
  if (isObject(live) && stringAt(live, "mode") !== "off") {
    const most = numberAt(live, "max_search_results");
    found.push({
      kind: "tool",
      name: "live_search",
      path: "search_parameters",
      ...withoutAbsent({ most }),
    });
  }
  for (const [index, plugin] of arrayAt(body, "plugins").entries()) {
    if (isObject(plugin) && plugin["enabled"] === false) continue;
    const most = numberAt(plugin, "max_results");
    found.push({
      kind: "tool",
      name: `plugin:${stringAt(plugin, "id") ?? ""}`,
      path: `plugins[${index}].id`,
      ...(most === undefined ? {} : { most: Math.ceil(most) }),
    });
  }
  if (isSwitched) found.push(...[ENABLE_SEARCH, ENABLE_CODE].filter(({ name }) => body[name] === true));
  if (isObject(custom)) found.push({ kind: "tool", name: "compound_custom", path: "compound_custom" });
  return found;
}

/** Alibaba Cloud runs a tool if a field is true. */
const switchOf = (name: string): Billable => ({ kind: "tool", name, path: name });
const ENABLE_SEARCH = switchOf("enable_search");
const ENABLE_CODE = switchOf("enable_code_interpreter");
const SEARCH: Billable = { kind: "tool", name: WEB_SEARCH, path: "web_search_options", crossesAs: WEB_SEARCH, most: 1 };
