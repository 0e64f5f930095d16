import { REQUEST_PREFIX } from "../../base/timed-id.ts";
import { PROTOCOL_NAMES } from "../../canon/dialect-name.ts";
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

/** Named as the query of the Admin API, with dashes. */
const FILTER_FLAGS = {
  model: { type: "string", value: "M", about: "only receipts for this model" },
  provider: { type: "string", value: "P", about: "only receipts for this provider" },
  key: { type: "string", value: "ID", about: "only receipts of the key with this id" },
  project: { type: "string", value: "P", about: "only receipts of this project" },
  outcome: { type: "string", value: "O", about: "only this outcome: ok, client_gone, or an error kind" },
  dialect: { type: "string", value: "NAME", about: `only this client protocol: ${PROTOCOL_NAMES.join(", ")}` },
  lane: { type: "string", value: "LANE", about: "only this lane: native or translated" },
  stream: { type: "string", value: "true|false", about: "only streamed or only non-streamed calls" },
  tag: { type: "string", value: "TAG", about: "only receipts with this tag" },
  "end-user": { type: "string", value: "ID", about: "only receipts of this end user" },
  "request-id": { type: "string", value: "ID", about: "only receipts of this request" },
  cached: {
    type: "string",
    value: "true|false",
    about: "only calls that the cache of responses answered, or only others",
  },
  body: {
    type: "string",
    value: "TEXT",
    about: "only calls whose captured bodies contain exactly this text; recorded in the audit log",
  },
  batch: { type: "string", value: "ID", about: "only receipts of the lines of this batch" },
  session: { type: "string", value: "ID", about: "only receipts of the turns of this live connection" },
  guard: { type: "string", value: "NAME", about: "only calls in which this guard found something" },
  from: { type: "string", value: "DATE", about: "start of the range, such as 2026-11-16 or 2026-11-16T08:00:00Z" },
  to: { type: "string", value: "DATE", about: "end of the range (exclusive)" },
  "min-cost": { type: "string", value: "USD", about: "only calls that cost at least this much" },
  "min-ms": { type: "string", value: "MS", about: "only calls that took at least this many milliseconds" },
  text: {
    type: "string",
    value: "TEXT",
    about: "search by the start of a receipt, request, or trace id, or by part of a model, provider, or key name",
  },
} as const;

const list = defineVerb({
  name: "list",
  usage: "[--model M] [--outcome O] [--from DATE] [options]",
  summary: "list receipts, newest first",
  flags: {
    ...FILTER_FLAGS,
    ...LIST_FLAGS,
  },
  run: async ({ values }) => {
    const filters = Object.keys(FILTER_FLAGS) as (keyof typeof FILTER_FLAGS)[];
    const query = Object.fromEntries(filters.map((name) => [name.replaceAll("-", "_"), values[name]]));
    return printAdminList(values, "/api/receipts", query, COLUMNS);
  },
});

const show = defineVerb({
  name: "show",
  usage: "ID",
  summary: "show a receipt as JSON, by receipt id or request id (x-trivium-request-id)",
  flags: ADMIN_FLAGS,
  takes: 1,
  run: async ({ values, positionals: [id] }) => {
    if (!id) throw new UsageError("Missing id. Pass a receipt id or a request id.");
    const client = await connectAdmin(values);
    if (!id.startsWith(REQUEST_PREFIX)) {
      printJson(await client.read(`/api/receipts/${encodeURIComponent(id)}`));
      return EXIT.ok;
    }
    const found = await client.list<{ id: string }>("/api/receipts", { text: id }, MAX_OF_REQUEST);
    if (found.length === 0) {
      const message = `No receipt for request ${id}: the request was rejected or is still in flight.`;
      throw new GatewayError("not_found", `${message} Run \`trivium refusals\` to see rejected requests.`);
    }
    // A request has several receipts if the gateway's tools needed several calls.
    for (const receipt of found) printJson(await client.read(`/api/receipts/${receipt.id}`));
    return EXIT.ok;
  },
});

const bodies = defineVerb({
  name: "bodies",
  usage: "ID",
  summary: "show the captured bodies of a call as JSON; the access is recorded in the audit log",
  flags: ADMIN_FLAGS,
  takes: 1,
  run: async ({ values, positionals: [id] }) => {
    if (!id) throw new UsageError("Missing receipt id. Run `trivium receipts list` to find it.");
    printJson(await (await connectAdmin(values)).read(`/api/receipts/${encodeURIComponent(id)}/bodies`));
    return EXIT.ok;
  },
});

export const receipts = withVerbs([list, show, bodies]);
