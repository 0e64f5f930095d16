import { REQUEST_PREFIX } from "../../base/timed-id.ts";
import { DIALECT_NAMES } from "../../canon/dialect-name.ts";
import { GatewayError } from "../../canon/error.ts";
import { ADMIN_FLAGS, connectAdmin } from "../admin-client.ts";
import { LIST_FLAGS, printAdminList } from "../admin-list.ts";
import { EXIT, printJson, UsageError } from "../command.ts";
import { defineVerb, withVerbs } from "../with-verbs.ts";

const COLUMNS = [
  "id",
  "created_at",
  "model",
  "provider",
  "outcome",
  "total_ms",
  "cost_usd",
  "unpriced",
  "project",
  "key",
] as const;

const MAX_OF_REQUEST = 100;

const list = defineVerb({
  name: "list",
  usage: "[--model M] [--outcome O] [--from DATE] …",
  summary: "list the receipts of a running gateway's calls, newest first",
  flags: {
    model: { type: "string", value: "M", about: "only those of this model" },
    provider: { type: "string", value: "P", about: "only those of this provider" },
    key: { type: "string", value: "ID", about: "only those of the key with this id" },
    project: { type: "string", value: "P", about: "only those of this project" },
    outcome: { type: "string", value: "O", about: "ok, client_gone or the kind of an error" },
    dialect: { type: "string", value: "NAME", about: `only those of clients that speak ${DIALECT_NAMES.join(", ")}` },
    lane: { type: "string", value: "LANE", about: "native or translated" },
    stream: { type: "string", value: "true|false", about: "only those that were streamed, or were not" },
    tag: { type: "string", value: "TAG", about: "only those with this tag" },
    from: { type: "string", value: "DATE", about: "not before, such as 2026-11-16 or 2026-11-16T08:00:00Z" },
    to: { type: "string", value: "DATE", about: "before" },
    "min-cost": { type: "string", value: "USD", about: "only those that cost at least this" },
    "min-ms": { type: "string", value: "MS", about: "only those that took at least so many milliseconds" },
    text: {
      type: "string",
      value: "TEXT",
      about: "the beginning of the id of a receipt, request or trace, or a part of a model's, provider's or key's name",
    },
    ...LIST_FLAGS,
  },
  run: async ({ values }) => {
    const { model, provider, key, project, outcome, dialect, lane, stream, tag, from, to, text } = values;
    const least = { min_cost: values["min-cost"], min_ms: values["min-ms"] };
    const query = { model, provider, key, project, outcome, dialect, lane, stream, tag, from, to, text, ...least };
    return printAdminList(values, "/api/receipts", query, COLUMNS);
  },
});

const show = defineVerb({
  name: "show",
  usage: "ID",
  summary: "show one receipt, as JSON, by its id or that of its request (x-trivium-request-id)",
  flags: ADMIN_FLAGS,
  takes: 1,
  run: async ({ values, positionals: [id] }) => {
    if (!id) throw new UsageError("Name the receipt by its id, or by the id of its request.");
    const client = await connectAdmin(values);
    if (!id.startsWith(REQUEST_PREFIX)) {
      printJson(await client.read(`/api/receipts/${encodeURIComponent(id)}`));
      return EXIT.ok;
    }
    const found = await client.list<{ id: string }>("/api/receipts", { text: id }, MAX_OF_REQUEST);
    if (found.length === 0) {
      const message = `No call came of the request ${id}: it was refused, or is not settled yet.`;
      throw new GatewayError("not_found", `${message} \`trivium refusals\` counts those that were refused.`);
    }
    // A request has several receipts where tools of the gateway took several calls.
    for (const receipt of found) printJson(await client.read(`/api/receipts/${receipt.id}`));
    return EXIT.ok;
  },
});

const bodies = defineVerb({
  name: "bodies",
  usage: "ID",
  summary: "show the bodies of a call whose key has them kept, as JSON; the view is in the audit log",
  flags: ADMIN_FLAGS,
  takes: 1,
  run: async ({ values, positionals: [id] }) => {
    if (!id) throw new UsageError("Name the receipt by its id.");
    printJson(await (await connectAdmin(values)).read(`/api/receipts/${encodeURIComponent(id)}/bodies`));
    return EXIT.ok;
  },
});

export const receipts = withVerbs([list, show, bodies]);
