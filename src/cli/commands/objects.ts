import { OBJECT_KINDS } from "../../canon/ownership.ts";
import { LIST_FLAGS, printAdminList } from "../admin-list.ts";
import { deleteVerb } from "../object-verbs.ts";
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

export const objects = withVerbs([list, deleteVerb("object")]);
