import { asGatewayError, GatewayError } from "../canon/error.ts";
import type { Dialect } from "../dialects/dialect.ts";
import { DIALECTS } from "../dialects/index.ts";
import { clampRetryAfter } from "../dialects/upstream-failure.ts";
import { makeId } from "../relay/ids.ts";
import { RelayError } from "../relay/relay.ts";
import { createGuard } from "./guard.ts";
import { resembledDialect } from "./resemblance.ts";
import { type Route, RouteTable } from "./route-table.ts";
import type { Handler, ServerContext } from "./routed-request.ts";

export interface ListenOptions {
  host: string;
  port: number;
  publicUrl: string;
  maxBodyBytes: number;
  routes: readonly Route<Handler>[];
  context: ServerContext;
}

export interface Listener {
  readonly url: string;
  readonly port: number;
  /** Takes no new connections; resolves when the running calls have ended or the time is up. */
  drain(seconds: number): Promise<void>;
}

const NO_QUERY = new URLSearchParams();

/** Bun's own limit is the outer wall: ours speaks first, in the caller's protocol. */
const OUTER_WALL_FACTOR = 4;

export function listen(options: ListenOptions): Listener {
  const { context } = options;
  const table = new RouteTable(options.routes);
  const guard = createGuard(options.host, options.publicUrl);

  const answer = async (request: Request): Promise<Response> => {
    const requestId = `req_${makeId()}`;
    const { path, query } = splitUrl(request.url);
    const match = table.find(request.method, path);
    const dialect = DIALECTS[match?.route.dialect ?? resembledDialect(path, request.headers)];
    try {
      guard(request.headers);
      if (!match) throw notFound(request.method, path, table);
      if (match.route.access === "key" && !context.accepting()) {
        throw new GatewayError("overloaded", "This gateway is shutting down. Try again.");
      }
      if (match.route.access === "admin") requireAdmin(request.headers, context);
      const { door, handle } = match.route;
      const response = await handle(
        { request, requestId, parameters: match.parameters, query, dialect, door },
        context,
      );
      return identify(response, dialect, requestId);
    } catch (thrown) {
      return identify(errorResponse(thrown, dialect, requestId, context), dialect, requestId);
    }
  };

  const server = Bun.serve({
    hostname: options.host,
    port: options.port,
    // Streams may be silent for longer than any idle limit; the relay has deadlines of its own for every wait.
    idleTimeout: 0,
    maxRequestBodySize: options.maxBodyBytes * OUTER_WALL_FACTOR,
    fetch: answer,
  });
  return {
    url: `http://${options.host.includes(":") ? `[${options.host}]` : options.host}:${server.port}`,
    port: server.port ?? options.port,
    drain: async (seconds) => {
      const finished = server.stop(false);
      const deadline = Bun.sleep(seconds * 1000).then(() => server.stop(true));
      await Promise.race([finished, deadline]);
    },
  };
}

/** `new URL` would do, at several times the cost on the hottest path there is. */
function splitUrl(url: string): { path: string; query: URLSearchParams } {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  const mark = url.indexOf("?", start);
  if (start < 0) return { path: "/", query: NO_QUERY };
  if (mark < 0) return { path: url.slice(start), query: NO_QUERY };
  return { path: url.slice(start, mark), query: new URLSearchParams(url.slice(mark + 1)) };
}

function identify(response: Response, dialect: Dialect, requestId: string): Response {
  response.headers.set("x-trivium-request-id", requestId);
  if (dialect.requestIdHeader) response.headers.set(dialect.requestIdHeader, requestId);
  return response;
}

function requireAdmin(headers: Headers, { isAdmin }: ServerContext): void {
  const presented = headers.get("authorization")?.replace(/^bearer\s+/i, "") ?? "";
  if (presented !== "" && isAdmin(presented)) return;
  throw new GatewayError("unauthenticated", "This address needs the admin secret: Authorization: Bearer <secret>.", {
    code: "invalid_admin_secret",
  });
}

function notFound<H>(method: string, path: string, table: RouteTable<H>): GatewayError {
  const methods = table.methodsOf(path);
  const shown = path.slice(0, 200);
  const message =
    methods.length > 0
      ? `${shown} takes ${methods.join(" or ")}, not ${method}.`
      : `There is no address ${method} ${shown}. GET /openapi.json lists what there is.`;
  return new GatewayError("not_found", message, { code: "unknown_address" });
}

function errorResponse(thrown: unknown, dialect: Dialect, requestId: string, context: ServerContext): Response {
  const error = asGatewayError(thrown instanceof RelayError ? thrown.error : thrown);
  if (error.kind === "internal") {
    context.gateway.log.error({ err: error.cause ?? error, requestId }, "a call failed inside the gateway");
  }
  const { status, headers, body } = dialect.encodeError(error, requestId);
  if (thrown instanceof RelayError) headers["x-trivium-receipt"] = thrown.receiptId;
  if (error.kind === "rate_limited") headers["retry-after"] = String(clampRetryAfter(error.retryAfterSeconds));
  if (error.kind === "budget_exhausted") headers["x-should-retry"] = "false";
  return new Response(body, { status, headers });
}
