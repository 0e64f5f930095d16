import { isObject, type JsonObject, numberAt } from "../../base/json.ts";
import { BATCH_STATES } from "../../batches/batch.ts";
import { releaseHeldBatches } from "../../storage/tables/held-batches.ts";
import { ADMIN_FLAGS, connectAdmin } from "../admin-client.ts";
import { LIST_FLAGS, printAdminList } from "../admin-list.ts";
import { EXIT, printJson, UsageError } from "../command.ts";
import { withStorage } from "../with-storage.ts";
import { defineVerb, withVerbs } from "../with-verbs.ts";

const COLUMNS = ["id", "created_at", "state", "done", "failed", "total", "cost_usd", "project", "key"] as const;

const list = defineVerb({
  name: "list",
  usage: "[--state STATE] [--project P] [options]",
  summary: "list batches with their progress and cost, newest first",
  flags: {
    state: { type: "string", value: "STATE", about: `only this state: ${BATCH_STATES.join(", ")}` },
    project: { type: "string", value: "P", about: "only batches of this project" },
    key: { type: "string", value: "ID", about: "only batches of the key with this id" },
    ...LIST_FLAGS,
  },
  run: async ({ values }) => {
    const { state, project, key } = values;
    return printAdminList(values, "/api/batches", { state, project, key }, COLUMNS, shown);
  },
});

/** The columns of a batch that are not fields of their own. */
function shown(batch: JsonObject): JsonObject {
  const { progress } = batch;
  return { ...batch, ...(isObject(progress) ? progress : {}), cost_usd: (numberAt(batch, "cost_nano_usd") ?? 0) / 1e9 };
}

const show = defineVerb({
  name: "show",
  usage: "ID",
  summary: "show a batch as JSON",
  flags: ADMIN_FLAGS,
  takes: 1,
  run: async ({ values, positionals: [id] }) => {
    if (!id) throw missing();
    printJson(await (await connectAdmin(values)).read(`/api/batches/${encodeURIComponent(id)}`));
    return EXIT.ok;
  },
});

const cancel = defineVerb({
  name: "cancel",
  usage: "ID",
  summary: "cancel a batch; requests that are running are finished and billed",
  flags: ADMIN_FLAGS,
  takes: 1,
  run: async ({ values, positionals: [id] }) => {
    if (!id) throw missing();
    const client = await connectAdmin(values);
    const cancelled = await client.change("POST", `/api/batches/${encodeURIComponent(id)}/cancel`);
    if (values.json) printJson(cancelled);
    else console.log(`Cancelled ${id}. It ends when its running requests have ended.`);
    return EXIT.ok;
  },
});

const release = defineVerb({
  name: "release",
  usage: "[options]",
  summary: "let batches run that are held since the database was restored",
  flags: {},
  run: async ({ values }) => {
    const released = await withStorage(values.config, releaseHeldBatches);
    if (values.json) printJson({ released });
    else console.log(released ? "Held batches run from now on." : "No batches are held.");
    return EXIT.ok;
  },
});

const missing = (): UsageError => new UsageError("Missing batch id. Run `trivium batches list` to find it.");

export const batches = withVerbs([list, show, cancel, release]);
