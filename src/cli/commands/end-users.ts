import { isObject, type JsonObject, objectAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { ADMIN_FLAGS, connectAdmin } from "../admin-client.ts";
import { LIST_FLAGS, printAdminList } from "../admin-list.ts";
import { EXIT, printJson, UsageError } from "../command.ts";
import { KEY_FLAGS, readLimitChanges } from "../key-flags.ts";
import { defineVerb, withVerbs } from "../with-verbs.ts";

const COLUMNS = ["id", "today", "month", "total", "requests", "tokens", "last_used_at", "limits"] as const;

const OWNER_FLAGS = {
  project: { type: "string", value: "P", about: "the project of the end user" },
  key: { type: "string", value: "ID", about: "the key of the end user (default: the whole project)" },
} as const;

const list = defineVerb({
  name: "list",
  usage: "[--text BEGINNING] [--project P] [options]",
  summary: "list end users with their spending in US dollars, and their calls and tokens of today",
  flags: {
    text: { type: "string", value: "BEGINNING", about: "only ids that begin with this" },
    project: { type: "string", value: "P", about: "only end users of this project" },
    key: { type: "string", value: "ID", about: "only end users of the key with this id" },
    limited: { type: "boolean", default: false, about: "only those with limits of their own" },
    ...LIST_FLAGS,
  },
  run: async ({ values }) => {
    const { text, project, key } = values;
    const query = { text, project, key, limited: values.limited ? "true" : undefined };
    return printAdminList(values, "/api/end_users", query, COLUMNS, row);
  },
});

function row(item: JsonObject): JsonObject {
  const spent = objectAt(item, "spent_nano_usd") ?? {};
  const usd = (name: string) => (Number(spent[name] ?? 0) / 1e9).toFixed(4);
  const limits = Array.isArray(item["limits"]) ? item["limits"].filter(isObject).map(ofOwner) : [];
  return {
    ...item,
    today: usd("day"),
    month: usd("month"),
    total: usd("total"),
    limits: limits.length === 0 ? "-" : limits.join(" "),
  };
}

function ofOwner({ project, key, limits }: JsonObject): string {
  const shown = Object.entries(isObject(limits) ? limits : {}).map(([name, value]) => `${name}=${value ?? "none"}`);
  return `${key ?? project ?? "gateway"}:${shown.join(",")}`;
}

const show = defineVerb({
  name: "show",
  usage: "ID",
  summary: "show what an end user has used with each key, and its own limits, as JSON",
  flags: ADMIN_FLAGS,
  takes: 1,
  run: async ({ values, positionals: [id] }) => {
    printJson(await (await connectAdmin(values)).read(pathOf(id)));
    return EXIT.ok;
  },
});

const limit = defineVerb({
  name: "limit",
  usage: "ID --project P [--key ID] --limit NAME=NUMBER",
  summary: "set limits for one end user, in place of the defaults",
  flags: {
    ...OWNER_FLAGS,
    limit: { ...KEY_FLAGS.limit, about: `${KEY_FLAGS.limit.about}; NAME=none removes the limit` },
    ...ADMIN_FLAGS,
  },
  takes: 1,
  run: async ({ values, positionals: [id] }) => {
    if (values.limit.length === 0) throw new UsageError("Missing limit. Pass --limit NAME=NUMBER.");
    const { project, key } = values;
    const body = withoutAbsent({ project, key, limits: readLimitChanges(values.limit) });
    const changed = await (await connectAdmin(values)).change("PUT", pathOf(id), body);
    if (values.json) printJson(changed);
    else console.log("The end user has its own limits. Running gateways apply them within a second.");
    return EXIT.ok;
  },
});

const reset = defineVerb({
  name: "reset",
  usage: "ID --project P [--key ID]",
  summary: "remove the limits that an end user has of its own; what it has used stays",
  flags: { ...OWNER_FLAGS, ...ADMIN_FLAGS },
  takes: 1,
  run: async ({ values, positionals: [id] }) => {
    const query = new URLSearchParams(withoutAbsent({ project: values.project, key: values.key }));
    const changed = await (await connectAdmin(values)).change("DELETE", `${pathOf(id)}?${query}`);
    if (values.json) printJson(changed);
    else console.log("The end user has the default limits again. Running gateways apply them within a second.");
    return EXIT.ok;
  },
});

function pathOf(id: string | undefined): string {
  if (!id) throw new UsageError("Missing end user. Pass its id, as requests name it.");
  return `/api/end_users/${encodeURIComponent(id)}`;
}

export const endUsers = withVerbs([list, show, limit, reset]);
