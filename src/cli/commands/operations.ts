import { ADMIN_FLAGS, connectAdmin } from "../admin-client.ts";
import { LIST_FLAGS, printAdminList } from "../admin-list.ts";
import { EXIT, printJson, UsageError } from "../command.ts";
import { defineVerb, withVerbs } from "../with-verbs.ts";

const COLUMNS = ["id", "created_at", "state", "model", "provider", "project", "key"] as const;

const list = defineVerb({
  name: "list",
  usage: "[--state STATE] [--project P] [options]",
  summary: "list videos and background responses, newest first",
  flags: {
    state: { type: "string", value: "STATE", about: "only this state: submitting, running, done, or failed" },
    project: { type: "string", value: "P", about: "only operations of this project" },
    model: { type: "string", value: "M", about: "only operations for this model" },
    provider: { type: "string", value: "P", about: "only operations at this provider" },
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
  summary: "cancel an operation; the provider may still complete it and charge for it",
  flags: ADMIN_FLAGS,
  takes: 1,
  run: async ({ values, positionals: [id] }) => {
    if (!id) throw new UsageError("Missing operation id. Run `trivium operations list` to find it.");
    const client = await connectAdmin(values);
    const cancelled = await client.change("POST", `/api/operations/${encodeURIComponent(id)}/cancel`);
    if (values.json) printJson(cancelled);
    else console.log(`Cancelled ${id}. It ends at the next poll.`);
    return EXIT.ok;
  },
});

export const operations = withVerbs([list, cancel]);
