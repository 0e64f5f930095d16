import { OBJECT_KINDS } from "../../canon/ownership.ts";
import { ADMIN_FLAGS, connectAdmin } from "../admin-client.ts";
import { LIST_FLAGS, printAdminList } from "../admin-list.ts";
import { EXIT, printJson, UsageError } from "../command.ts";
import { defineVerb, withVerbs } from "../with-verbs.ts";

const COLUMNS = ["id", "kind", "state", "created_at", "bytes", "project", "key", "expires_at"] as const;

const list = defineVerb({
  name: "list",
  usage: "[--kind KIND] [--project P] [options]",
  summary: "list what clients have stored, newest first",
  flags: {
    kind: { type: "string", value: "KIND", about: `only ${OBJECT_KINDS.join(", ")}` },
    project: { type: "string", value: "P", about: "only objects of this project" },
    key: { type: "string", value: "ID", about: "only objects of the key with this id" },
    ...LIST_FLAGS,
  },
  run: async ({ values }) => {
    const { kind, project, key } = values;
    return printAdminList(values, "/api/objects", { kind, project, key }, COLUMNS);
  },
});

export const deleteObject = defineVerb({
  name: "delete",
  usage: "ID",
  summary: "delete an object; requests that name it are refused from then on",
  flags: ADMIN_FLAGS,
  takes: 1,
  run: async ({ values, positionals: [id] }) => {
    if (!id) throw new UsageError("Missing id. Run `trivium objects list` to find it.");
    const client = await connectAdmin(values);
    const deleted = await client.change("DELETE", `/api/objects/${encodeURIComponent(id)}`);
    if (values.json) printJson(deleted);
    else console.log(`Deleted ${id}.`);
    return EXIT.ok;
  },
});

export const objects = withVerbs([list, deleteObject]);
