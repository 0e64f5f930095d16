import { LIST_FLAGS, printAdminList } from "../admin-list.ts";
import { defineVerb, withVerbs } from "../with-verbs.ts";
import { deleteObject } from "./objects.ts";

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

export const files = withVerbs([list, deleteObject]);
