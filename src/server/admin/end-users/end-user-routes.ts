import { GATEWAY_ID } from "../../../access/level.ts";
import { checkEndUser } from "../../../access/parts/end-user-id.ts";
import { type EndUserOwner, endUserLimitsView, setEndUserLimits } from "../../../access/parts/end-user-limits.ts";
import type { Operator } from "../../../access/people/operator.ts";
import { GatewayError } from "../../../canon/error.ts";
import { type EndUserReport, listEndUsers, reportEndUsers } from "../../../ledger/end-users.ts";
import { moneyOf } from "../../../ledger/queries.ts";
import { json } from "../../openapi/operation.ts";
import type { ServerContext } from "../../routed-request.ts";
import { actorOf } from "../actor.ts";
import { adminRoute } from "../define-route.ts";
import { keyFor, keysFor, projectOf } from "../project-scope.ts";
import { endUserField, oneOfField, PAGE_FIELDS, textField } from "../query-fields.ts";
import { type EndUser, EndUserAnswer, EndUserLimitsBody, EndUserListAnswer } from "../schemas/end-user.ts";

type Context = Pick<ServerContext, "storage" | "gateway">;

const DEFAULT_LIMIT = 50;
const OWNER_FIELDS = {
  project: textField("The project of the end user."),
  key: textField("The id of the key of the end user. Default: the whole project."),
};

export const listEndUsersRoute = adminRoute({
  method: "GET",
  path: "/api/end_users",
  id: "listEndUsers",
  summary: "List end users with what they have used, in the order of their ids.",
  roles: ["admin", "viewer", "project"],
  query: {
    limit: PAGE_FIELDS.limit,
    after: endUserField("The `next` of the previous page."),
    text: endUserField("Only ids that begin with this."),
    project: textField("Only end users of this project."),
    key: textField("Only end users of the key with this id."),
    limited: oneOfField("`true`: only those with limits of their own.", ["true", "false"]),
  },
  answers: [json(EndUserListAnswer, "End users.")],
  handle: async ({ query, operator }, { storage, gateway }) => {
    const { limit = DEFAULT_LIMIT, after, text, key, limited } = query;
    const project = projectOf(operator, query.project);
    const filter = { project, key, after, text, limited: limited === "true", limit };
    const { data, next } = await listEndUsers(storage, filter, gateway.clock.wallMs());
    const view = await viewFor(operator, { storage, gateway });
    return { data: data.map(view), next: next ?? null };
  },
});

export const showEndUserRoute = adminRoute({
  method: "GET",
  path: "/api/end_users/{id}",
  idsMayHaveSlashes: true,
  id: "showEndUser",
  summary: "Show what an end user has used, and its own limits.",
  roles: ["admin", "viewer", "project"],
  query: OWNER_FIELDS,
  answers: [json(EndUserAnswer, "The end user. One who was never named has used nothing.")],
  handle: async ({ parameters, query, operator }, { storage, gateway }) => {
    const id = checkEndUser(parameters["id"] ?? "", "id");
    const project = projectOf(operator, query.project);
    return { data: await shown(id, { project, key: query.key }, operator, { storage, gateway }) };
  },
});

export const limitEndUserRoute = adminRoute({
  method: "PUT",
  path: "/api/end_users/{id}",
  idsMayHaveSlashes: true,
  id: "limitEndUser",
  summary: "Set limits for one end user of a key or project, in place of the defaults.",
  roles: ["admin"],
  body: EndUserLimitsBody,
  answers: [json(EndUserAnswer, "The end user. Its limits hold here, and at other instances within a second.")],
  handle: async ({ parameters, body, operator, connection }, { storage, gateway }) => {
    const id = checkEndUser(parameters["id"] ?? "", "id");
    const owner = await ownerOf(body, operator, { storage, gateway });
    await setEndUserLimits(storage, id, owner, body.limits, gateway, actorOf(operator, connection));
    await gateway.changes.spread();
    return { data: await shown(id, {}, operator, { storage, gateway }) };
  },
});

export const resetEndUserRoute = adminRoute({
  method: "DELETE",
  path: "/api/end_users/{id}",
  idsMayHaveSlashes: true,
  id: "resetEndUser",
  summary: "Remove the limits that one end user has of its own. What it has used stays.",
  roles: ["admin"],
  query: OWNER_FIELDS,
  answers: [json(EndUserAnswer, "The end user, with the default limits.")],
  handle: async ({ parameters, query, operator, connection }, { storage, gateway }) => {
    const id = checkEndUser(parameters["id"] ?? "", "id");
    const owner = await ownerOf(query, operator, { storage, gateway });
    await setEndUserLimits(storage, id, owner, undefined, gateway, actorOf(operator, connection));
    await gateway.changes.spread();
    return { data: await shown(id, {}, operator, { storage, gateway }) };
  },
});

/** A key, or else a project, or else the gateway. */
async function ownerOf(
  { project, key }: { project?: string | undefined; key?: string | undefined },
  operator: Operator,
  context: Context,
): Promise<EndUserOwner> {
  if (key !== undefined) {
    const found = await keyFor(operator, key, context);
    if (project === undefined || found.project === project)
      return { level: "key", owner: found.id, project: found.project };
    const message = `The key "${key.slice(0, 100)}" belongs to the project "${found.project}".`;
    throw new GatewayError("invalid_request", message, { path: "project" });
  }
  return project === undefined
    ? { level: "gateway", owner: GATEWAY_ID }
    : { level: "project", owner: project, project };
}

async function shown(
  id: string,
  filter: { project?: string | undefined; key?: string | undefined },
  operator: Operator,
  context: Context,
): Promise<EndUser> {
  const [report] = await reportEndUsers(context.storage, [id], filter, context.gateway.clock.wallMs());
  if (report === undefined) throw new Error("one id has one report");
  return (await viewFor(operator, context))(report);
}

/** An operator of one project sees neither other projects nor the gateway. */
async function viewFor(operator: Operator, context: Context): Promise<(report: EndUserReport) => EndUser> {
  const keys = await keysFor(operator, undefined, context);
  const projects = new Map(keys.map(({ id, project }) => [id, project]));
  const own = projectOf(operator, undefined);
  return ({ id, spent, lastAtMs, keys: used, limits }) => ({
    id,
    spent_nano_usd: moneyOf(spent),
    requests: spent.requests,
    tokens: spent.tokens,
    last_used_at: lastAtMs === undefined ? null : new Date(lastAtMs).toISOString(),
    keys: used.map((sum) => ({
      project: sum.project,
      key: sum.keyId,
      spent_nano_usd: moneyOf(sum),
      requests: sum.requests,
      tokens: sum.tokens,
      last_used_at: new Date(sum.lastAtMs).toISOString(),
    })),
    limits: limits.flatMap(({ level, owner, limits: set = {}, changedAtMs }) => {
      const project = level === "project" ? owner : level === "key" ? (projects.get(owner) ?? null) : null;
      if (own !== undefined && project !== own) return [];
      return [
        {
          project,
          key: level === "key" ? owner : null,
          limits: endUserLimitsView(set),
          changed_at: new Date(changedAtMs).toISOString(),
        },
      ];
    }),
  });
}
