import type { ObjectKind } from "../canon/ownership.ts";
import { ADMIN_FLAGS, connectAdmin } from "./admin-client.ts";
import { LIST_FLAGS, printAdminList } from "./admin-list.ts";
import { EXIT, printJson, UsageError } from "./command.ts";
import { defineVerb, withVerbs } from "./with-verbs.ts";

/** A kind of objects that clients have created, as a command shows it. */
interface ShownObjects {
  kind: ObjectKind;
  /** What one of them is called. Its plural is the command. */
  noun: string;
  /** What they are, such as `uploaded files`. */
  about: string;
  columns: readonly string[];
}

/** `list` and `delete` for objects of one kind. */
export function objectVerbs({ kind, noun, about, columns }: ShownObjects) {
  const list = defineVerb({
    name: "list",
    usage: "[--project P] [options]",
    summary: `list ${about}, newest first`,
    flags: {
      project: { type: "string", value: "P", about: `only ${noun}s of this project` },
      key: { type: "string", value: "ID", about: `only ${noun}s of the key with this id` },
      ...LIST_FLAGS,
    },
    run: async ({ values }) => {
      const { project, key } = values;
      return printAdminList(values, "/api/objects", { kind, project, key }, columns);
    },
  });
  return withVerbs([list, deleteVerb(noun)]);
}

/** `delete` for objects of any kind. */
export function deleteVerb(noun: string) {
  return defineVerb({
    name: "delete",
    usage: "ID",
    summary: "delete one; requests that name it are refused from then on",
    flags: ADMIN_FLAGS,
    takes: 1,
    run: async ({ values, positionals: [id] }) => {
      if (!id) throw new UsageError(`Missing ${noun} id. Run \`trivium ${noun}s list\` to find it.`);
      const client = await connectAdmin(values);
      const deleted = await client.change("DELETE", `/api/objects/${encodeURIComponent(id)}`);
      if (values.json) printJson(deleted);
      else console.log(`Deleted ${id}.`);
      return EXIT.ok;
    },
  });
}
