import { arrayAt, isObject, type JsonObject, numberAt } from "../../../base/json.ts";
import { ADMIN_FLAGS, connectAdmin } from "../../admin-client.ts";
import { EXIT, printJson, printTable, UsageError } from "../../command.ts";
import { defineVerb, withVerbs } from "../../with-verbs.ts";
import { gatheredRemarks } from "./gathered-remarks.ts";

const COLUMNS = ["id", "age_s", "phase", "model", "provider", "attempts", "characters", "project", "key"] as const;

const list = defineVerb({
  name: "list",
  usage: "[--project P] [--key ID] [--model M] [--provider P] [--sort newest] [options]",
  summary: "list the calls in flight of all processes, oldest first",
  flags: {
    project: { type: "string", value: "P", about: "only calls of this project" },
    key: { type: "string", value: "ID", about: "only calls of the key with this id" },
    model: { type: "string", value: "M", about: "only calls for this model" },
    provider: { type: "string", value: "P", about: "only calls that are trying this provider" },
    sort: { type: "string", value: "ORDER", about: "oldest (default) or newest first" },
    ...ADMIN_FLAGS,
  },
  run: async ({ values }) => {
    const { project, key, model, provider, sort } = values;
    const found = await (await connectAdmin(values)).readAll("/api/calls", { project, key, model, provider, sort });
    if (values.json) {
      printJson(found);
      return EXIT.ok;
    }
    const calls = arrayAt(found, "data").filter(isObject);
    printTable(
      COLUMNS,
      calls.map((call) => COLUMNS.map((column) => cell(call, column))),
    );
    for (const line of remarks(found, calls.length)) console.error(line);
    return EXIT.ok;
  },
});

function cell(call: JsonObject, column: (typeof COLUMNS)[number]): string {
  if (column === "age_s") return ((numberAt(call, "age_ms") ?? 0) / 1000).toFixed(1);
  return String(call[column] ?? "-");
}

function remarks(found: JsonObject, shown: number): string[] {
  const more = (numberAt(found, "total") ?? shown) - shown;
  const hidden = `${more} more calls are in flight: narrow the list with --project, --key, --model or --provider.`;
  return [...(more > 0 ? [hidden] : []), ...gatheredRemarks(found, "calls")];
}

const stop = defineVerb({
  name: "stop",
  usage: "ID",
  summary: "stop a call in flight: its client gets an error, and what was produced is billed",
  flags: ADMIN_FLAGS,
  takes: 1,
  run: async ({ values, positionals: [id] }) => {
    if (!id) throw new UsageError("Missing id of a call. Run `trivium calls list` to find it.");
    const stopped = await (await connectAdmin(values)).change("POST", `/api/calls/${encodeURIComponent(id)}/stop`);
    if (values.json) printJson(stopped);
    else console.log(`Stopped ${id}. Its receipt shows its cost.`);
    return EXIT.ok;
  },
});

export const calls = withVerbs([list, stop]);
