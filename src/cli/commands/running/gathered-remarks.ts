import { arrayAt, type JsonObject, stringAt } from "../../../base/json.ts";

/** What a list of all processes lacks; `what` is in it. */
export function gatheredRemarks(found: JsonObject, what: string): string[] {
  const lines: string[] = [];
  const places = arrayAt(found, "unanswered").map((one) => stringAt(one, "place") ?? "");
  if (places.length > 0) lines.push(`No answer from ${places.join("; ")}: their ${what} are not in the list.`);
  const problem = stringAt(found, "problem");
  if (problem !== undefined) lines.push(`Other processes could not be asked. ${problem}`);
  return lines;
}
