import { ADMIN_FLAGS, connectAdmin } from "../admin-client.ts";
import { LIST_FLAGS, printAdminList } from "../admin-list.ts";
import { EXIT, printJson, UsageError } from "../command.ts";
import { defineVerb, withVerbs } from "../with-verbs.ts";

const COLUMNS = ["id", "created_at", "name", "type", "bytes", "project", "key", "expires_at"] as const;

const list = defineVerb({
  name: "list",
  usage: "[--project P] [options]",
  summary: "list uploaded files, newest first",
  flags: {
    project: { type: "string", value: "P", about: "only files of this project" },
    key: { type: "string", value: "ID", about: "only files of the key with this id" },
    ...LIST_FLAGS,
  },
  run: async ({ values }) => {
    const { project, key } = values;
    return printAdminList(values, "/api/objects", { kind: "file", project, key }, COLUMNS);
  },
});

const remove = defineVerb({
  name: "delete",
  usage: "ID",
  summary: "delete a file; requests that name it are refused from then on",
  flags: ADMIN_FLAGS,
  takes: 1,
  run: async ({ values, positionals: [id] }) => {
    if (!id) throw new UsageError("Missing file id. Run `trivium files list` to find it.");
    const client = await connectAdmin(values);
    const deleted = await client.change("DELETE", `/api/objects/${encodeURIComponent(id)}`);
    if (values.json) printJson(deleted);
    else console.log(`Deleted ${id}.`);
    return EXIT.ok;
  },
});

export const files = withVerbs([list, remove]);
