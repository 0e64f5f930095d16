import { asGatewayError, GatewayError } from "../canon/error.ts";
import type { Dialect } from "../dialects/dialect.ts";
import { DIALECTS } from "../dialects/index.ts";
import { clampRetryAfter } from "../dialects/upstream-failure.ts";
import { type ClientConnection, ClientGoneError } from "../relay/call.ts";
import { shuttingDown } from "../relay/gateway.ts";
import { identityHeaders, isIdentified } from "../relay/identity-headers.ts";
import { UnreadBodyError } from "../relay/read-body.ts";
import { RelayError } from "../relay/relay-error.ts";
import { isAway } from "../storage/is-away.ts";
import { Cors } from "./cors.ts";
import { FailureThrottle } from "./failure-throttle.ts";
import { createGuard } from "./guard.ts";
import { listenFailure } from "./listen-failure.ts";
import { resembledDialect } from "./resemblance.ts";
import { type Route, RouteTable } from "./route-table.ts";
import type { Handler, ServerContext } from "./routed-request.ts";
import { unknownEndpoint } from "./unknown-endpoint.ts";

export interface ListenOptions {
  host: string;
  port: number;
  publicUrl: string;
  /** Origins whose pages may call. */
  cors?: readonly string[];
  routes: readonly Route<Handler>[];
  context: ServerContext;
}

export interface Listener {
  readonly url: string;
  readonly port: number;
  /** Goes on as before for so long, or until the signal comes: whoever sends calls here needs time to hear that it should not. */
  linger(seconds: number, hurry?: AbortSignal): Promise<void>;
  /**
   * Resolves when the running calls have ended; only then does the port close. When the time is up, or the signal comes,
   * those that are left are told so.
   */
  drain(seconds: number, hurry?: AbortSignal): Promise<void>;
}

const DRAIN_LOOK_MS = 20;
/** The port closes when nobody has come for this long: those who come late hear that they should go elsewhere. */
const QUIET_MS = 60;
/** How long it may take to tell everybody. */
const LAST_WORDS_MS = 1_000;

/** The shortest silence that the runtime knows. */
const HANG_UP_SECONDS = 1;
const NO_LIMIT = 0;

const NO_QUERY = new URLSearchParams();

/** Bun's own limit is the outer wall, beyond all that can be configured: ours speaks first, in the caller's protocol. */
const OUTER_WALL_BYTES = 16 * 1024 ** 3;

export function listen(options: ListenOptions): Listener {
  const { context } = options;
  const { clock, random } = context.gateway;
  const { idleConnectionMs, strangerConnectionMs } = context.gateway.timings;
  const idleSeconds = Math.ceil(idleConnectionMs / 1000);
  const strangerSeconds = Math.ceil(strangerConnectionMs / 1000);
  const table = new RouteTable(options.routes);
  const throttle = new FailureThrottle(clock);
  const cors = new Cors(options.cors ?? []);
  const section = options.routes.some(({ access }) => access === "admin") ? "admin" : "server";
  const guard = createGuard(options.host, options.publicUrl, { section, allows: (origin) => cors.allows(origin) });

  /** Calls whose answer is not yet sent to its end, streams included, and those that go on without their client (H26). */
  const pending = () => Math.max(server.pendingRequests, context.gateway.runningCalls);

  const idle = async (withinMs: number, hurry?: AbortSignal): Promise<void> => {
    const deadlineMs = clock.nowMs() + withinMs;
    while (pending() > 0 && clock.nowMs() < deadlineMs && !hurry?.aborted) await clock.sleep(DRAIN_LOOK_MS);
  };

  let arrived = 0;
  /** Resolves when nobody comes any more, or it has taken too long. */
  const quiet = async (withinMs: number): Promise<void> => {
    const deadlineMs = clock.nowMs() + withinMs;
    for (let before = -1; before !== arrived && clock.nowMs() < deadlineMs; ) {
      before = arrived;
      await clock.sleep(QUIET_MS);
    }
  };

  const sent = (response: Response): Response => {
    if (context.draining()) response.headers.set("connection", "close");
    return response;
  };

  const answer = async (request: Request): Promise<Response> => {
    arrived++;
    const requestId = `req_${random.id()}`;
    const { path, query } = splitUrl(request.url);
    const match = table.find(request.method, path);
    const connection = new Connection(server, request, idleSeconds);
    const dialect = DIALECTS[match?.route.dialect ?? resembledDialect(path, request.headers)];
    try {
      guard(request.headers);
      const preflight = match === undefined ? cors.preflight(request) : undefined;
      if (preflight !== undefined) return sent(preflight);
      if (!match) {
        throw unknownEndpoint(request.method, path, {
          table,
          routes: options.routes,
          publicUrl: context.publicUrl(),
        });
      }
      if (match.route.access === "key" && !context.accepting()) {
        throw shuttingDown();
      }
      const { access } = match.route;
      if (access === "admin") {
        requireAdmin(request.headers, context);
        // Sums over a large ledger take longer than a stranger may be silent.
        connection.hold();
      }
      const { door, handle } = match.route;
      const response = await handle(
        {
          request,
          requestId,
          connection,
          parameters: match.parameters,
          query,
          dialect,
          door,
        },
        context,
      );
      // A call says itself when it is over; whatever else was answered to somebody who may have it is over now.
      if (access === "admin" || (access !== "open" && !connection.held)) connection.rest();
      return sent(cors.mark(identify(response, dialect, requestId), request));
    } catch (thrown) {
      const response = errorResponse(thrown, dialect, requestId, context);
      if (response.status === 401) await throttle.failed(server.requestIP(request)?.address ?? "");
      if (connection.trusted) connection.rest();
      // A call with a receipt has a line of its own. What an error says may quote the request: it is not for the log.
      if (!(thrown instanceof RelayError)) {
        const { status } = response;
        context.gateway.log.debug(
          { request_id: requestId, method: request.method, path: path.slice(0, 200), status },
          "refused",
        );
      }
      // Whatever is left of a body that nobody will read must not keep the connection.
      if (request.body && (!request.bodyUsed || thrown instanceof UnreadBodyError))
        response.headers.set("connection", "close");
      return sent(cors.mark(identify(response, dialect, requestId), request));
    }
  };

  const server = serveOrExplain(section, {
    hostname: options.host,
    port: options.port,
    // For connections on which no key was shown. One that sends no request at all is closed by the runtime after ten seconds.
    idleTimeout: strangerSeconds,
    maxRequestBodySize: OUTER_WALL_BYTES,
    fetch: answer,
  });
  return {
    url: `http://${options.host.includes(":") ? `[${options.host}]` : options.host}:${server.port}`,
    port: server.port ?? options.port,
    linger: async (seconds, hurry) => {
      const untilMs = clock.nowMs() + seconds * 1000;
      while (clock.nowMs() < untilMs && !hurry?.aborted) await clock.sleep(DRAIN_LOOK_MS);
    },
    drain: async (seconds, hurry) => {
      // The port stays open while calls run, so that new ones hear in their own protocol that the gateway is stopping.
      await idle(seconds * 1000, hurry);
      await quiet(seconds === 0 || hurry?.aborted ? 0 : LAST_WORDS_MS);
      context.gateway.closing = true;
      await idle(LAST_WORDS_MS);
      await server.stop(true);
    },
  };
}

class Connection implements ClientConnection {
  trusted = false;
  /** A call that is under way says itself when it is over. */
  held = false;
  #hangsUp = false;
  readonly #server: Bun.Server<undefined>;
  readonly #request: Request;
  readonly #idleSeconds: number;

  constructor(server: Bun.Server<undefined>, request: Request, idleSeconds: number) {
    this.#server = server;
    this.#request = request;
    this.#idleSeconds = idleSeconds;
  }

  hold(): void {
    this.held = true;
    this.trusted = true;
    this.#server.timeout(this.#request, NO_LIMIT);
  }

  rest(): void {
    if (this.#hangsUp) return;
    this.#server.timeout(this.#request, this.#idleSeconds);
  }

  hangUp(): void {
    this.#hangsUp = true;
    this.#server.timeout(this.#request, HANG_UP_SECONDS);
  }
}

/** `section` is the part of the configuration that says where to listen. */
function serveOrExplain(
  section: "server" | "admin",
  options: { hostname: string; port: number } & Bun.Serve.Options<undefined>,
) {
  try {
    return Bun.serve(options);
  } catch (cause) {
    const portFlag = section === "admin" ? "--admin-port" : "--port";
    const fields = { host: `${section}.host`, port: `${section}.port`, portFlag };
    throw listenFailure(cause, { host: options.hostname, port: options.port, fields });
  }
}

/**
 * `new URL` would do, and build more than the two pieces that a route needs. Where a request names no host, or one that
 * cannot be, the runtime gives the path alone: all of it counts (S04).
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

function requireAdmin(headers: Headers, { isAdmin }: ServerContext): void {
  const presented = /^bearer\s+(\S.*)$/i.exec(headers.get("authorization") ?? "")?.[1]?.trim() ?? "";
  if (presented !== "" && isAdmin(presented)) return;
  throw new GatewayError("unauthenticated", "This address needs the admin secret: Authorization: Bearer <secret>.", {
    code: "invalid_admin_secret",
  });
}

function errorResponse(thrown: unknown, dialect: Dialect, requestId: string, context: ServerContext): Response {
  const error = storageAway(asGatewayError(thrown instanceof RelayError ? thrown.error : thrown));
  if (error.kind === "internal" && !(error instanceof ClientGoneError)) {
    context.gateway.log.error({ err: error.cause ?? error, request_id: requestId }, "internal error");
  }
  if (isAway(error.cause))
    context.gateway.log.warn({ request_id: requestId }, `not answered: ${(error.cause as Error).message}`);
  const { status, headers, body } = dialect.encodeError(error, requestId);
  if (thrown instanceof RelayError) Object.assign(headers, thrown.headers);
  if (error.kind === "rate_limited" || error.retryAfterSeconds !== undefined)
    headers["retry-after"] = String(clampRetryAfter(error.retryAfterSeconds));
  // The vendors' SDKs go by the status else: a budget that only calls under way fill is worth another try.
  if (error.kind === "budget_exhausted")
    headers["x-should-retry"] = error.retryAfterSeconds === undefined ? "false" : "true";
  if (error.kind === "upstream_credentials") headers["x-should-retry"] = "false";
  return new Response(body, { status, headers });
}

/** What needs the storage is worth trying again when that cannot be used; only here, since no offer could do better (H29). */
function storageAway(error: GatewayError): GatewayError {
  if (error.kind !== "internal" || !isAway(error.cause)) return error;
  const message = "The gateway's storage does not answer. Calls to models go on; try this again in a moment.";
  return new GatewayError("overloaded", message, { code: "storage_away", retryAfterSeconds: 5, cause: error.cause });
}
