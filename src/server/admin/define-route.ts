import type { Static, TSchema } from "typebox";
import type { BudgetUse } from "../../access/budget.ts";
import type { OperatorAccess } from "../../access/operator-access.ts";
import type { Operator } from "../../access/people/operator.ts";
import type { Alerts } from "../../alerts/alerts.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { GatewayError } from "../../canon/error.ts";
import type { Role } from "../../canon/role.ts";
import { defineCheck, refuse } from "../../dialects/reading/check.ts";
import { pathTo } from "../../dialects/reading/explain-mismatch.ts";
import type { Exports } from "../../exports/exports.ts";
import type { OidcLogin } from "../../identity/oidc-login.ts";
import type { Questions } from "../../instances/questions.ts";
import { readSmallBody } from "../../relay/request/read-body.ts";
import type { Family } from "../../telemetry/family.ts";
import type { PartCondition } from "../condition.ts";
import type { LoginThrottle } from "../login-throttle.ts";
import type { Answer } from "../openapi/operation.ts";
import type { Method } from "../route-table.ts";
import type { RoutedRequest, ServerContext } from "../routed-request.ts";
import type { AdminCatalogue } from "./admin-catalogue.ts";
import type { AdminConfig } from "./admin-config.ts";
import type { OverviewMemory } from "./overview/overview-memory.ts";
import type { ProviderForm } from "./provider-form.ts";
import { checkText, type QueryFields, type QueryValues, readQuery } from "./query-fields.ts";
import type { WrongSecrets } from "./wrong-secrets.ts";

/** The clients' listener, called from within the program. */
export type PublicListener = (request: Request, connection: AdminConnection) => Promise<Response>;
type AdminConnection = RoutedRequest["connection"];

/** What the Admin API needs from the program in addition to what every listener has. */
export interface AdminParts {
  access: OperatorAccess;
  logins: LoginThrottle;
  wrongSecrets: WrongSecrets;
  /** Logins at an issuer. */
  oidc: OidcLogin;
  /** The URL at which browsers reach the Admin API. */
  publicUrl: string;
  config: AdminConfig;
  catalogue: AdminCatalogue;
  alerts: Alerts;
  exports: Pick<Exports, "read" | "run" | "states">;
  /** The clients' base URL, and that listener itself. */
  clientsUrl: () => string;
  listener: PublicListener;
  /** Tests each credential of a provider with a free request. */
  probe: (provider: string) => Promise<readonly ProbedCredential[]>;
  /** The fields that declare a provider of each kind. */
  forms: readonly ProviderForm[];
  /** Tests the credential of a provider that only this text declares; undefined if it declares none of that name. */
  probeDraft: (yaml: string, name: string) => Promise<ProbedCredential | undefined>;
  /** Asks all processes that use this storage. */
  questions: Questions;
  /** The running calls of the other processes at their last heartbeats, and how many processes these are. */
  others: () => { instances: number; runningCalls: number };
  /** The gateway's dependencies. */
  parts: () => readonly PartCondition[];
  /** How much of each budget is used, as of the last look at the ledger. */
  budgets: () => readonly BudgetUse[];
  overviews: OverviewMemory;
  metrics: {
    /** Anyone who reaches the listener may read them (`admin.open_metrics`). */
    open: boolean;
    /** Of this process and all other workers. */
    collect: () => Promise<readonly Family[]>;
  };
}

/** The result of testing a credential with a free request. */
export interface ProbedCredential {
  /** A label, if the provider has several. */
  credential?: string;
  host: string;
  state: "ok" | "rejected" | "unreachable" | "unchecked";
  detail: string;
}

/** A request to the Admin API, with parsed parameters and a known operator. */
export interface AdminCall<Query, Body> extends Pick<RoutedRequest, "request" | "requestId" | "connection"> {
  /** From the path. */
  parameters: Readonly<Record<string, string>>;
  query: Query;
  body: Body;
}

type Result = Response | object | Promise<Response | object>;

interface Description {
  method: Method;
  /** As documents write it: `/api/keys/{id}`. */
  path: string;
  /** The operation's id in the OpenAPI document. */
  id: string;
  summary: string;
  answers: readonly Answer[];
  bodyMayBeAbsent?: boolean;
  /** The ids in its path may have slashes, as some protocols write them. */
  idsMayHaveSlashes?: boolean;
}

interface Definition<Fields extends QueryFields, Body extends TSchema> extends Description {
  query?: Fields;
  body?: Body;
  maxBodyBytes?: number;
  /** For probes: load balancers and monitors add parameters such as `?t=1` to avoid caches. */
  ignoresUnknownParameters?: boolean;
}

interface OperatorsRoute<Fields extends QueryFields, Body extends TSchema> extends Definition<Fields, Body> {
  roles: readonly Role[];
  handle(
    call: AdminCall<QueryValues<Fields>, Static<Body>> & { operator: Operator },
    context: ServerContext,
    parts: AdminParts,
  ): Result;
}

interface OpenRoute<Fields extends QueryFields, Body extends TSchema> extends Definition<Fields, Body> {
  handle(call: AdminCall<QueryValues<Fields>, Static<Body>>, context: ServerContext, parts: AdminParts): Result;
}

/** A route of the Admin API, used by the listener and by the OpenAPI document. */
export interface AdminRoute extends Description {
  /** `open`: no secret is needed. */
  roles: readonly Role[] | "open";
  /** Whether the configuration opens it to everybody. */
  isOpen?: (parts: AdminParts) => boolean;
  query: QueryFields;
  body?: TSchema;
  run(routed: RoutedRequest, context: ServerContext, parts: AdminParts): Promise<Response>;
}

const MAX_BYTES = 64 * 1024;
const OPERATOR = { keyId: "operator", keyName: "operator" };

type NoFields = Record<never, never>;

/** An endpoint for operators with one of the roles; the listener refuses all others. */
export function adminRoute<const Fields extends QueryFields = NoFields, Body extends TSchema = TSchema>(
  route: OperatorsRoute<Fields, Body>,
): AdminRoute {
  const { handle } = route;
  const read = callReader(route);
  return {
    ...described(route),
    roles: route.roles,
    run: async (routed, context, parts) => {
      const { operator } = routed;
      if (operator === undefined) throw new GatewayError("unauthenticated", "This endpoint requires an operator.");
      return asResponse(await handle({ ...(await read(routed, context)), operator }, context, parts), route);
    },
  };
}

/** An endpoint for everybody. */
export function openRoute<const Fields extends QueryFields = NoFields, Body extends TSchema = TSchema>(
  route: OpenRoute<Fields, Body>,
): AdminRoute {
  const { handle } = route;
  const read = callReader(route);
  return {
    ...described(route),
    roles: "open",
    run: async (routed, context, parts) => asResponse(await handle(await read(routed, context), context, parts), route),
  };
}

function described<Fields extends QueryFields, Body extends TSchema>(route: Definition<Fields, Body>) {
  const { method, path, id, summary, answers, query, body, bodyMayBeAbsent, idsMayHaveSlashes } = route;
  return {
    method,
    path,
    id,
    summary,
    answers,
    query: query ?? {},
    ...withoutAbsent({ body, bodyMayBeAbsent, idsMayHaveSlashes }),
  };
}

/** Parses a request; throws on anything that the route does not know, or cannot use. */
function callReader<Fields extends QueryFields, Body extends TSchema>(route: Definition<Fields, Body>) {
  const readBody = bodyReader(route);
  const fields = route.query ?? ({} as Fields);
  const ignoreUnknown = route.ignoresUnknownParameters ?? false;
  return async (
    { request, requestId, connection, parameters, query }: RoutedRequest,
    context: ServerContext,
  ): Promise<AdminCall<QueryValues<Fields>, Static<Body>>> => {
    for (const [name, value] of Object.entries(parameters)) checkText(value, name);
    const values = readQuery(query, fields, { ignoreUnknown });
    const body = await readBody(request, context);
    return { request, requestId, connection, parameters, query: values, body };
  };
}

function bodyReader<Body extends TSchema>({
  body: schema,
  bodyMayBeAbsent = false,
  maxBodyBytes = MAX_BYTES,
}: Definition<QueryFields, Body>): (request: Request, context: ServerContext) => Promise<Static<Body>> {
  if (schema === undefined) return async () => undefined as Static<Body>;
  const check = checkOf(schema);
  return async (request, { gateway }) => {
    const isAbsent = bodyMayBeAbsent && (request.body === null || request.headers.get("content-length") === "0");
    const given = isAbsent ? {} : await readSmallBody(request, maxBodyBytes, OPERATOR, gateway);
    return check(given, { door: "contract", model: { id: "", reasoning: false } });
  };
}

/** Ignoring a misspelt limit would create a key with more access than intended (H25). */
function checkOf<Body extends TSchema>(schema: Body) {
  const known = Object.keys((schema as { properties?: object }).properties ?? {});
  return defineCheck(schema, {
    gate: (given) => {
      const unknown = Object.keys(given).find((name) => !known.includes(name));
      if (unknown === undefined) return;
      refuse(pathTo("", unknown), `is not a field here; expected one of ${known.join(", ")}`);
    },
    relations: () => undefined,
  });
}

function asResponse(result: Response | object, { answers }: Description): Response {
  return result instanceof Response ? result : Response.json(result, { status: answers[0]?.status ?? 200 });
}
