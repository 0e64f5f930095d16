import { type JsonObject, stringAt } from "../../../base/json.ts";
import { ONE_MODEL } from "../../reading/routing-fields.ts";
import type { ResponsesQuirks } from "../quirks.ts";
import { namesModel } from "./named-models.ts";

interface UnsentMember {
  member: string;
  reason: string;
}

/** Members of a tool that the provider does not get. */
export function unsentMembers(
  tool: JsonObject,
  { searchFields }: Pick<ResponsesQuirks, "searchFields">,
): UnsentMember[] {
  if (stringAt(tool, "type")?.startsWith("web_search")) {
    if (searchFields === undefined) return [];
    const unknown = Object.keys(tool).filter((member) => member !== "type" && !searchFields.includes(member));
    return unknown.map((member) => ({ member, reason: "this provider's web search has no such setting" }));
  }
  return namesModel(tool) ? [{ member: "model", reason: ONE_MODEL }] : [];
}
