import { ADMIN_FLAGS, connectAdmin } from "../admin-client.ts";
import { LIST_FLAGS, printAdminList } from "../admin-list.ts";
import { EXIT, printJson, UsageError } from "../command.ts";
import { defineVerb, withVerbs } from "../with-verbs.ts";

const COLUMNS = ["id", "created_at", "state", "model", "provider", "project", "key"] as const;

const list = defineVerb({
  name: "list",
  usage: "[--state STATE] [--project P] …",
  summary: "list videos and background responses of a running gateway, newest first",
  flags: {
    state: { type: "string", value: "STATE", about: "submitting, running, done or failed" },
    project: { type: "string", value: "P", about: "only those of this project" },
    model: { type: "string", value: "M", about: "only those of this model" },
    provider: { type: "string", value: "P", about: "only those of this provider" },
    ...LIST_FLAGS,
  },
  run: async ({ values }) => {
    const { state, project, model, provider } = values;
    return printAdminList(values, "/api/operations", { state, project, model, provider }, COLUMNS);
  },
});

const cancel = defineVerb({
  name: "cancel",
  usage: "ID",
  summary: "end an operation without waiting for its provider, which may go on and charge for it",
  flags: ADMIN_FLAGS,
  takes: 1,
  run: async ({ values, positionals: [id] }) => {
    if (!id) throw new UsageError("Name the operation to cancel by its id.");
    const client = await connectAdmin(values);
    const cancelled = await client.change("POST", `/api/operations/${encodeURIComponent(id)}/cancel`);
    if (values.json) printJson(cancelled);
    else console.log(`${id} is cancelled; it ends at the next poll.`);
    return EXIT.ok;
  },
});

export const operations = withVerbs([list, cancel]);
