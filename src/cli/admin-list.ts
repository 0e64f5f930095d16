import type { JsonObject } from "../base/json.ts";
import { ADMIN_FLAGS, connectAdmin } from "./admin-client.ts";
import { EXIT, printJson, printTable } from "./command.ts";
import { readWholeNumber } from "./whole-number.ts";

const MOST = 100_000;

/** Flags of the commands that show a list of the Admin API. */
export const LIST_FLAGS = {
  limit: { type: "string", default: "50", value: "N", about: "maximum number of results" },
  ...ADMIN_FLAGS,
} as const;

interface Given {
  json: boolean;
  limit: string;
  url?: string | undefined;
  secret?: string | undefined;
  config?: string | undefined;
}

/** Prints a list of the Admin API: these columns of each item, as `shown` makes them, or all of it as JSON. */
export async function printAdminList(
  given: Given,
  path: string,
  query: Readonly<Record<string, string | undefined>>,
  columns: readonly string[],
  shown: (item: JsonObject) => JsonObject = (item) => item,
): Promise<number> {
  const most = readWholeNumber("--limit", given.limit, 1, MOST) ?? 1;
  const found = await (await connectAdmin(given)).list(path, query, most);
  if (given.json) printJson(found);
  else
    printTable(
      columns,
      found.map(shown).map((item) => columns.map((column) => cell(item, column))),
    );
  return EXIT.ok;
}

function cell(item: JsonObject, column: string): string {
  const value = item[column];
  if (value === null || value === undefined) return "-";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
