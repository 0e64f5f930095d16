import { arrayAt, type JsonObject, stringAt } from "../../base/json.ts";

/** The input of a web search in the canon: its query as most protocols have it, and all queries if a search has several. */
export const writeQueries = (queries: readonly string[]): string =>
  JSON.stringify({ query: queries[0] ?? "", ...(queries.length > 1 ? { queries } : {}) });

/** All queries of a web search, from the canon's input or from a Responses action, which has the same members. */
export function readQueries(search: JsonObject | undefined): readonly string[] {
  const query = stringAt(search, "query");
  const queries = arrayAt(search, "queries").filter((one) => typeof one === "string");
  return query === undefined || queries.includes(query) ? queries : [query, ...queries];
}
