import { asGatewayError, GatewayError } from "../canon/error.ts";
import type { Dialect } from "../dialects/dialect.ts";
import { DIALECTS } from "../dialects/index.ts";
import { clampRetryAfter } from "../dialects/upstream-failure.ts";
import { ClientGoneError } from "../relay/call.ts";
import { identityHeaders, isIdentified } from "../relay/identity-headers.ts";
import { makeId } from "../relay/ids.ts";
import { RelayError } from "../relay/relay-error.ts";
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
  /** Resolves when the running calls have ended, or the time is up; only then does the port close. */
  drain(seconds: number): Promise<void>;
}

const DRAIN_LOOK_MS = 20;

const NO_QUERY = new URLSearchParams();

/** Bun's own limit is the outer wall: ours speaks first, in the caller's protocol. */
const OUTER_WALL_FACTOR = 4;

export function listen(options: ListenOptions): Listener {
  const { context } = options;
  const table = new RouteTable(options.routes);
  const guard = createGuard(options.host, options.publicUrl);

  /** Calls whose answer is not yet sent to its end: streams included. */
  const pending = () => server.pendingRequests;

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
      const response = errorResponse(thrown, dialect, requestId, context);
      // Whatever is left of a body that nobody will read must not keep the connection.
      if (request.body && !request.bodyUsed) response.headers.set("connection", "close");
      return identify(response, dialect, requestId);
    }
  };

  const server = serveOrExplain({
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
      // The port stays open while calls run, so that new ones hear in their own protocol that the gateway is stopping.
      const deadline = performance.now() + seconds * 1000;
      while (pending() > 0 && performance.now() < deadline) await Bun.sleep(DRAIN_LOOK_MS);
      await server.stop(true);
    },
  };
}

function serveOrExplain(options: { hostname: string; port: number } & Bun.Serve.Options<undefined>) {
  try {
    return Bun.serve(options);
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause && cause.code === "EADDRINUSE")) throw cause;
    const where = `Port ${options.port} of ${options.hostname} is in use`;
    const message = `${where}. Is another Trivium running? Set server.port or admin.port to a free one.`;
    throw new GatewayError("internal", message, { cause });
  }
}

/** `new URL` would do, and build more than the two pieces that a route needs. */
function splitUrl(url: string): { path: string; query: URLSearchParams } {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  const mark = url.indexOf("?", start);
  if (start < 0) return { path: "/", query: NO_QUERY };
  if (mark < 0) return { path: url.slice(start), query: NO_QUERY };
  return { path: url.slice(start, mark), query: new URLSearchParams(url.slice(mark + 1)) };
}

function identify(response: Response, dialect: Dialect, requestId: string): Response {
  if (isIdentified(response)) return response;
  const headers = identityHeaders(dialect, requestId);
  for (const name in headers) response.headers.set(name, headers[name] ?? "");
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
  if (error.kind === "internal" && !(error instanceof ClientGoneError)) {
    context.gateway.log.error({ err: error.cause ?? error, requestId }, "a call failed inside the gateway");
  }
  const { status, headers, body } = dialect.encodeError(error, requestId);
  if (thrown instanceof RelayError) headers["x-trivium-receipt"] = thrown.receiptId;
  if (error.kind === "rate_limited") headers["retry-after"] = String(clampRetryAfter(error.retryAfterSeconds));
  if (error.kind === "budget_exhausted" || error.kind === "upstream_credentials") headers["x-should-retry"] = "false";
  return new Response(body, { status, headers });
}
