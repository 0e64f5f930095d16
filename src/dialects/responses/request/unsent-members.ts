import { type JsonObject, stringAt } from "../../../base/json.ts";
import { ONE_MODEL } from "../../reading/routing-fields.ts";
import type { ResponsesQuirks } from "../quirks.ts";

interface UnsentMember {
  member: string;
  reason: string;
}

/** The client's own tools, whose schemas may well have a `model`. */
const OF_CLIENTS: ReadonlySet<string | undefined> = new Set(["function", "custom", "namespace"]);

/** Members of a tool that the provider does not get. */
export function unsentMembers(
  tool: JsonObject,
  { searchFields }: Pick<ResponsesQuirks, "searchFields">,
): UnsentMember[] {
  const type = stringAt(tool, "type");
  if (type?.startsWith("web_search")) {
    if (searchFields === undefined) return [];
    const unknown = Object.keys(tool).filter((member) => member !== "type" && !searchFields.includes(member));
    return unknown.map((member) => ({ member, reason: "this provider's web search has no such setting" }));
  }
  return "model" in tool && !OF_CLIENTS.has(type) ? [{ member: "model", reason: ONE_MODEL }] : [];
}
