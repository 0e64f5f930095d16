import { arrayAt, isObject, numberAt } from "../../../base/json.ts";
import { ADMIN_FLAGS, connectAdmin } from "../../admin-client.ts";
import { EXIT, printJson, printTable, UsageError } from "../../command.ts";
import { defineVerb, withVerbs } from "../../with-verbs.ts";
import { gatheredRemarks } from "./gathered-remarks.ts";

const COLUMNS = ["id", "opened_at", "protocol", "turns", "running", "project", "key", "instance"] as const;

const list = defineVerb({
  name: "list",
  usage: "[--project P] [--key ID] [options]",
  summary: "list the open live connections of all processes, oldest first",
  flags: {
    project: { type: "string", value: "P", about: "only connections of this project" },
    key: { type: "string", value: "ID", about: "only connections of the key with this id" },
    ...ADMIN_FLAGS,
  },
  run: async ({ values }) => {
    const { project, key } = values;
    const found = await (await connectAdmin(values)).readAll("/api/live_sessions", { project, key });
    if (values.json) {
      printJson(found);
      return EXIT.ok;
    }
    const sessions = arrayAt(found, "data").filter(isObject);
    printTable(
      COLUMNS,
      sessions.map((session) => COLUMNS.map((column) => String(session[column] ?? "-"))),
    );
    const more = (numberAt(found, "total") ?? sessions.length) - sessions.length;
    if (more > 0) console.error(`${more} more connections are open: narrow the list with --project or --key.`);
    for (const line of gatheredRemarks(found, "connections")) console.error(line);
    return EXIT.ok;
  },
});

const end = defineVerb({
  name: "end",
  usage: "ID",
  summary: "end a live connection: its client is told, and turns in progress are billed",
  flags: ADMIN_FLAGS,
  takes: 1,
  run: async ({ values, positionals: [id] }) => {
    if (!id) throw new UsageError("Missing id of a connection. Run `trivium live list` to find it.");
    const client = await connectAdmin(values);
    const ended = await client.change("POST", `/api/live_sessions/${encodeURIComponent(id)}/end`);
    if (values.json) printJson(ended);
    else console.log(`Ended ${id}. Receipts with this session_id show what its turns have cost.`);
    return EXIT.ok;
  },
});

export const live = withVerbs([list, end]);
