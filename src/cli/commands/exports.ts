import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from "../../base/json.ts";
import { ADMIN_FLAGS, connectAdmin } from "../admin-client.ts";
import { EXIT, printJson, printTable, UsageError } from "../command.ts";
import { defineVerb, withVerbs } from "../with-verbs.ts";

const COLUMNS = ["name", "format", "state", "lag", "rows", "files", "last_file", "error"] as const;

const list = defineVerb({
  name: "list",
  usage: "",
  summary: "list exports with their state, lag, last file and error",
  flags: ADMIN_FLAGS,
  run: async ({ values }) => {
    const answer = await (await connectAdmin(values)).readAll("/api/exports");
    const found = arrayAt(answer, "data").filter(isObject);
    if (values.json) printJson(found);
    else if (found.length === 0) console.log("No exports configured.");
    else printTable(COLUMNS, found.map(shown));
    return EXIT.ok;
  },
});

function shown(one: JsonObject): string[] {
  const lag = numberAt(one, "lag_seconds");
  const cells: Readonly<Record<(typeof COLUMNS)[number], string | undefined>> = {
    name: stringAt(one, "name"),
    format: stringAt(one, "format"),
    state: stringAt(one, "state"),
    lag: lag === undefined ? undefined : `${lag} s`,
    rows: String(numberAt(one, "rows") ?? 0),
    files: String(numberAt(one, "files") ?? 0),
    last_file: stringAt(objectAt(one, "last_file"), "name"),
    error: stringAt(one, "error"),
  };
  return COLUMNS.map((column) => cells[column] ?? "-");
}

const run = defineVerb({
  name: "run",
  usage: "NAME",
  summary: "run an export now",
  flags: ADMIN_FLAGS,
  takes: 1,
  run: async ({ values, positionals: [name] }) => {
    if (!name) throw new UsageError("Missing export name. Run `trivium exports list` to find it.");
    const client = await connectAdmin(values);
    const after = await client.change("POST", `/api/exports/${encodeURIComponent(name)}/run`);
    const error = stringAt(after, "error");
    if (values.json) printJson(after);
    else if (error !== undefined) console.error(`The export ${name} failed: ${error}`);
    else {
      const last = stringAt(objectAt(after, "last_file"), "name");
      const state = stringAt(after, "state") === "running" ? "is still running" : "is up to date";
      console.log(`The export ${name} ${state}.${last === undefined ? "" : ` Last file: ${last}`}`);
    }
    return error === undefined ? EXIT.ok : EXIT.failed;
  },
});

export const exports = withVerbs([list, run]);
