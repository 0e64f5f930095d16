import type { Operator } from "../access/people/operator.ts";
import { REQUEST_PREFIX, timePrefix } from "../base/timed-id.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import { asGatewayError, GatewayError } from "../canon/error.ts";
import type { Role } from "../canon/role.ts";
import type { Dialect } from "../dialects/dialect.ts";
import { clampRetryAfter } from "../dialects/upstream-failure.ts";
import { identityHeaders, isIdentified } from "../relay/answer/identity-headers.ts";
import { RelayError } from "../relay/answer/relay-error.ts";
import { ClientDisconnectedError } from "../relay/call.ts";
import { shuttingDown } from "../relay/gateway.ts";
import { discardBody, UnreadBodyError } from "../relay/request/read-body.ts";
import { isUnavailable } from "../storage/is-unavailable.ts";
import { Cors } from "./cors.ts";
import { countRefusal } from "./count-refusal.ts";
import { FailureThrottle } from "./failure-throttle.ts";
import { createLoopbackGuard } from "./loopback-guard.ts";
import { type Route, RouteTable } from "./route-table.ts";
import type { Handler, RoutedConnection, ServerContext } from "./routed-request.ts";
import { traceRefused } from "./trace-refused.ts";
import { unknownEndpoint } from "./unknown-endpoint.ts";

/** The connection of a request. */
export interface ServedConnection extends RoutedConnection {
  /** A call in flight reports its own end. */
  readonly held: boolean;
}

export interface RequestHandlerOptions {
  /** Its address and its public URL: a request on loopback must name one of them. */
  host: string;
  publicUrl: string;
  /** Origins whose pages may call. */
  cors?: readonly string[];
  routes: readonly Route<Handler>[];
  /**
   * The operator who sends a request to an admin endpoint; throws if it has none of these roles. Absent: no operator
   * is admitted.
   */
  authorize?: (request: Request, roles: readonly Role[], connection: ServedConnection) => Promise<Operator>;
  context: ServerContext;
}

export type RequestHandler = (request: Request, connection: ServedConnection) => Promise<Response>;

/** The section of the configuration with the address of these routes. */
export const sectionOf = (routes: readonly Route<Handler>[]): "admin" | "server" =>
  routes.some(({ access }) => access === "admin") ? "admin" : "server";

const NO_QUERY = new URLSearchParams();

/** Responses to operators are not cached, and no browser may guess their type. */
function protect(headers: Headers): void {
  headers.set("x-content-type-options", "nosniff");
  if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
}

/** From a request to its response: route, guard, handler. Every error is in the caller's protocol. */
export function createRequestHandler(options: RequestHandlerOptions): RequestHandler {
  const { context } = options;
  const { clock, random } = context.gateway;
  const table = new RouteTable(options.routes);
  const throttle = new FailureThrottle(clock);
  const cors = new Cors(options.cors ?? []);
  const section = sectionOf(options.routes);
  const isForClients = section === "server";
  const guard = createLoopbackGuard(options.host, options.publicUrl, {
    section,
    allows: (origin) => cors.allows(origin),
  });

  const isOperators = sectionOf(options.routes) === "admin";
  const isDiscarded = (request: Request, { trusted }: ServedConnection): Promise<boolean> =>
    discardBody(request, trusted ? MAX_DISCARDED_BYTES : MAX_STRANGE_BYTES, context.gateway);
  const sent = (response: Response): Response => {
    if (context.draining()) response.headers.set("connection", "close");
    if (isOperators) protect(response.headers);
    return response;
  };

  return async (request, connection) => {
    const startedAtMs = clock.nowMs();
    // With the time first, an index over ids grows at its end; within one millisecond 72 random bits distinguish
    // them.
    const requestId = REQUEST_PREFIX + timePrefix(startedAtMs) + random.id().slice(-12);
    const { path, query } = splitUrl(request.url);
    const match = table.find(request.method, path);
    const { clients } = context.dialects;
    const dialect =
      match === undefined
        ? resembledDialect(path, request.headers, clients)
        : ((match.route.shared ? dialectByHeader(request.headers, clients) : undefined) ??
          context.dialects.get(match.route.dialect));
    try {
      guard(request.headers);
      const preflight = match === undefined ? cors.preflight(request) : undefined;
      if (preflight !== undefined) return sent(preflight);
      if (!match) {
        throw unknownEndpoint(request.method, path, {
          table,
          routes: options.routes,
          publicUrl: context.publicUrl(),
          upgrade: request.headers.get("upgrade"),
        });
      }
      if (match.route.access === "key" && !context.accepting()) {
        throw shuttingDown();
      }
      const { access } = match.route;
      const operator = access === "admin" ? await admit(request, connection, match.route, options) : undefined;
      if (operator !== undefined) {
        // Sums over a large ledger take longer than the idle timeout of unauthenticated clients.
        connection.hold();
      }
      const { door, handle } = match.route;
      const response = await handle(
        {
          request,
          requestId,
          connection,
          operator,
          parameters: match.parameters,
          query,
          dialect,
          door,
        },
        context,
      );
      // A call reports its own end; any other request of an authorized client is over now.
      if (access === "admin" || (access !== "open" && !connection.held)) connection.rest();
      return sent(cors.mark(identify(response, dialect, requestId), request));
    } catch (thrown) {
      const errors = match?.route.errors ?? dialect.errors;
      const response = errorResponse(thrown, errors, requestId, context);
      if (response.status === 405) response.headers.set("allow", table.methodsOf(path).join(", "));
      if (response.status === 401) await throttle.failed(connection.address);
      if (connection.trusted) connection.rest();
      // A call with a receipt has its own log line. An error message may quote the request, so it is not logged.
      if (!(thrown instanceof RelayError)) {
        const { gateway } = context;
        const { status } = response;
        const error = asGatewayError(thrown);
        const { kind } = error;
        const isCall = match?.route.access === "key";
        const trace = isCall
          ? traceRefused({ request, requestId, match, path, startedAtMs, status, kind }, gateway)
          : undefined;
        // A client that has disconnected was not refused.
        const isGone = error instanceof ClientDisconnectedError || request.signal.aborted;
        const endpoint = `${request.method} ${path.slice(0, 100)}`;
        const told = { endpoint, message: error.messageWithPath };
        const isTold = isForClients && !isGone && countRefusal(gateway, kind, connection, told);
        gateway.log[isTold ? "info" : "debug"](
          withoutAbsent({
            request_id: requestId,
            trace_id: trace?.traceId,
            span_id: trace?.spanId,
            method: request.method,
            path: path.slice(0, 200),
            status,
            reason: kind,
            key: isForClients ? (connection.shown?.keyId ?? "none") : undefined,
            address: isForClients ? connection.address : undefined,
          }),
          "refused",
        );
      }
      // The rest of a body that will not be read must not keep the connection open.
      if (
        request.body &&
        (request.bodyUsed ? thrown instanceof UnreadBodyError : !(await isDiscarded(request, connection)))
      )
        response.headers.set("connection", "close");
      return sent(cors.mark(identify(response, dialect, requestId), request));
    }
  };
}

/** The most of a refused body that is read to its end, of a client with a valid key and of any other. */
const MAX_DISCARDED_BYTES = 1024 * 1024 * 1024;
const MAX_STRANGE_BYTES = 8 * 1024 * 1024;

/** Closed unless the listener admits operators, and the route names their roles (S04, S08). */
function admit(
  request: Request,
  connection: ServedConnection,
  { roles = [] }: Route<Handler>,
  { authorize }: RequestHandlerOptions,
): Promise<Operator> {
  if (authorize !== undefined) return authorize(request, roles, connection);
  throw new GatewayError("unauthenticated", "This listener does not serve operators.", {
    code: "invalid_admin_secret",
  });
}

/**
 * `new URL` would work, but build more than the two parts that a route needs. If a request names no host, or an invalid one,
 * the runtime gives only the path: all of it counts (S04).
 */
function splitUrl(url: string): { path: string; query: URLSearchParams } {
  const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("//") + 2);
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

function errorResponse(
  thrown: unknown,
  errors: Pick<Dialect["errors"], "encode">,
  requestId: string,
  context: ServerContext,
): Response {
  const error = storageAway(asGatewayError(thrown instanceof RelayError ? thrown.error : thrown));
  if (error.kind === "internal" && !(error instanceof ClientDisconnectedError)) {
    context.gateway.log.error({ err: error.cause ?? error, request_id: requestId }, "internal error");
  }
  if (isUnavailable(error.cause))
    context.gateway.log.warn({ request_id: requestId }, `request failed: ${(error.cause as Error).message}`);
  const { status, headers, body } = errors.encode(error, requestId);
  if (thrown instanceof RelayError) {
    Object.assign(headers, thrown.headers);
    thrown.capture?.answered(body);
  }
  if (error.kind === "rate_limited" || error.retryAfterSeconds !== undefined)
    headers["retry-after"] = String(clampRetryAfter(error.retryAfterSeconds));
  // The vendors' SDKs follow it before the status. A budget that only calls in flight exhaust is worth a retry.
  if (!error.rule.clientMayRetry) {
    const frees = error.kind === "budget_exhausted" && error.retryAfterSeconds !== undefined;
    headers["x-should-retry"] = String(frees);
  }
  return new Response(body, { status, headers });
}

/**
 * Requests that need the storage may be retried when it is unavailable; only here, since no other offer could do better (H29).
 */
function storageAway(error: GatewayError): GatewayError {
  if (error.kind !== "internal" || !isUnavailable(error.cause)) return error;
  const message = "The gateway's database does not answer. Calls to models still work; retry this request in a moment.";
  return new GatewayError("overloaded", message, { code: "storage_away", retryAfterSeconds: 5, cause: error.cause });
}

/** Errors for an unknown path use the protocol whose paths, or else whose headers, it resembles. */
function resembledDialect(path: string, headers: Headers, dialects: readonly [Dialect, ...Dialect[]]): Dialect {
  // The paths of later dialects are more specific.
  const byPath = dialects.findLast(({ http }) => http.pathHint?.test(path));
  return byPath ?? dialectByHeader(headers, dialects) ?? dialects[0];
}

/** The dialect whose clients send one of these headers. */
const dialectByHeader = (headers: Headers, dialects: readonly Dialect[]): Dialect | undefined =>
  dialects.find(({ http }) => http.headerHints?.some((name) => headers.has(name)));
