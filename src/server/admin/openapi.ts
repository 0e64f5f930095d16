import { withoutAbsent } from "../../base/without-absent.ts";
import { ROLES } from "../../canon/role.ts";
import { ComponentSchemas } from "../openapi/component-schemas.ts";
import { ERROR_SHAPES } from "../openapi/errors.ts";
import type { AdminRoute } from "./define-route.ts";

interface DocumentOptions {
  url: string;
  version: string;
}

/** The Admin API as an OpenAPI 3.1 document, made from its route table. */
export function adminDocument(routes: readonly AdminRoute[], { url, version }: DocumentOptions): object {
  const schemas = new ComponentSchemas();
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operationOf(route, schemas) };
  }
  const content = { "application/json": { schema: schemas.refer(ERROR_SHAPES.chat) } };
  return {
    openapi: "3.1.0",
    info: {
      title: "Trivium Admin API",
      version,
      description: `For operators of a gateway. \`x-roles\` lists the roles that may use an operation: ${ROLES.join(", ")}.`,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url }],
    paths,
    components: {
      schemas: schemas.toJSON(),
      responses: Object.fromEntries(
        Object.entries(FAILURES).map(([status, description]) => [`failure-${status}`, { description, content }]),
      ),
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "The admin secret, or an operator's secret." },
        session: {
          type: "apiKey",
          in: "cookie",
          name: "trv_session",
          description:
            "Set by POST /api/session; `__Host-trv` if admin.public_url is https. Changes also require x-trivium-csrf.",
        },
      },
    },
  };
}

const FAILURES: Readonly<Record<string, string>> = {
  "400": "The request is invalid; the message names the field and the expected value.",
  "401": "No valid secret or session.",
  "403":
    "The role may not do this, the x-trivium-csrf header is wrong, or the request comes from a page of another site.",
  "404": "The object does not exist, or belongs to another project.",
  "413": "The body is too large.",
  "415": "The body is not JSON.",
  "429": "Too many wrong secrets from this address; `retry-after` says how long to wait.",
  "503": "The storage does not answer.",
};

function operationOf(route: AdminRoute, schemas: ComponentSchemas): object {
  const isOpen = route.roles === "open";
  const parameters = parametersOf(route);
  return {
    operationId: route.id,
    summary: route.summary,
    security: isOpen ? [] : [{ bearer: [] }, { session: [] }],
    ...(isOpen ? {} : { "x-roles": route.roles }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            required: route.bodyMayBeAbsent !== true,
            content: { "application/json": { schema: schemas.refer(route.body) } },
          },
        }),
    responses: { ...successesOf(route, schemas), ...failuresOf(route) },
  };
}

function parametersOf({ path, query, method, roles }: AdminRoute): object[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  const inQuery = Object.entries(query).map(([name, { schema, about }]) => ({
    name,
    in: "query",
    description: about,
    schema,
  }));
  const csrf = {
    name: "x-trivium-csrf",
    in: "header",
    description: "Within a session: the value from POST or GET /api/session.",
    schema: { type: "string" },
  };
  return [...inPath, ...inQuery, ...(method === "GET" || roles === "open" ? [] : [csrf])];
}

function successesOf({ answers }: AdminRoute, schemas: ComponentSchemas): object {
  const responses: Record<string, { description: string; content?: Record<string, object> }> = {};
  for (const { schema, description, contentType, status = 200 } of answers) {
    const known = responses[status];
    const media = withoutAbsent({ schema: schema && schemas.refer(schema) });
    responses[status] = withoutAbsent({
      description: known?.description ?? description,
      content: contentType === undefined ? undefined : { ...known?.content, [contentType]: media },
    });
  }
  return responses;
}

function failuresOf({ roles, path, body, method }: AdminRoute): object {
  const isLogin = roles === "open" && method === "POST";
  const statuses = [
    ...(roles === "open" && !isLogin ? [] : ["400", "401", "403", "503"]),
    ...(path.includes("{") ? ["404"] : []),
    ...(body === undefined ? [] : ["413", "415"]),
    ...(isLogin ? ["429"] : []),
  ];
  return Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/failure-${status}` }]));
}
