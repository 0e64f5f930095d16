import { arrayAt, type JsonObject, stringAt } from "../../base/json.ts";

/** The input of a web search in the canon: its query as most protocols have it, and all of them where one search has several. */
export const writeQueries = (queries: readonly string[]): string =>
  JSON.stringify({ query: queries[0] ?? "", ...(queries.length > 1 ? { queries } : {}) });

/** Everything that a web search looked for, of the canon's input or of a Responses action, which has the same members. */
export function readQueries(search: JsonObject | undefined): readonly string[] {
  const query = stringAt(search, "query");
  const queries = arrayAt(search, "queries").filter((one) => typeof one === "string");
  return query === undefined || queries.includes(query) ? queries : [query, ...queries];
}
