import { ADMIN_FLAGS, connectAdmin } from "../admin-client.ts";
import { LIST_FLAGS, printAdminList } from "../admin-list.ts";
import { EXIT, printJson, UsageError } from "../command.ts";
import { defineVerb, withVerbs } from "../with-verbs.ts";

const COLUMNS = [
  "id",
  "operator",
  "role",
  "project",
  "issuer",
  "address",
  "created_at",
  "used_at",
  "expires_at",
] as const;

const list = defineVerb({
  name: "list",
  usage: "",
  summary: "list the open sessions of operators, newest first",
  flags: LIST_FLAGS,
  run: ({ values }) => printAdminList(values, "/api/sessions", {}, COLUMNS),
});

const end = defineVerb({
  name: "end",
  usage: "ID",
  summary: "end a session at once, at every instance",
  flags: ADMIN_FLAGS,
  takes: 1,
  run: async ({ values, positionals: [id] }) => {
    if (!id) throw new UsageError("Missing session. Pass the id of the session to end.");
    const client = await connectAdmin(values);
    const ended = (await client.change("DELETE", `/api/sessions/${encodeURIComponent(id)}`)) as { operator: string };
    if (values.json) printJson(ended);
    else console.log(`Ended the session ${id} of ${ended.operator}.`);
    return EXIT.ok;
  },
});

export const sessions = withVerbs([list, end]);
