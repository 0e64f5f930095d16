import type { Dialect } from "../../dialects/dialect.ts";
import type { DocumentedPath } from "../../dialects/endpoint.ts";
import type { Door } from "../../dialects/reading/check.ts";
import type { ApiOperation } from "../openapi/operation.ts";
import type { Method, Route } from "../route-table.ts";
import type { Handler } from "../routed-request.ts";

/** The location of an endpoint. */
export interface EndpointPath {
  door: Door;
  /** A literal path, or a pattern over the percent-decoded path whose named groups become parameters. */
  path: string | RegExp;
  /** The paths of the OpenAPI document that it serves. */
  documented: readonly DocumentedPath[];
}

/** One endpoint for clients, declared in one place: the route table and the OpenAPI document are made from it. */
export interface ClientEndpoint extends ApiOperation {
  paths: readonly EndpointPath[];
  handle: Handler;
  /** Clients of other dialects use it too; a version header distinguishes them (choices 1). */
  shared?: boolean;
  /** How errors are encoded, if not as in the dialect. */
  errors?: Pick<Dialect["errors"], "encode">;
}

export function routesTo({
  method,
  dialect,
  access,
  paths,
  handle,
  errors,
  shared = false,
}: ClientEndpoint): Route<Handler>[] {
  // A handler of lists checks the key itself, since lists may be public.
  const checked = access === undefined ? "key" : access === "listed" ? "open" : access;
  // The runtime omits the body of a response to HEAD.
  const methods: readonly Method[] = method === "GET" && checked === "open" ? ["GET", "HEAD"] : [method];
  return paths.flatMap(({ door, path }) =>
    methods.map((each) => ({ method: each, path, access: checked, dialect, door, shared, handle, errors })),
  );
}
