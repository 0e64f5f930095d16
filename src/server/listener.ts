import { type ClientAddress, clientAddress } from "./client-address.ts";
import { listenFailure, PORT_FLAGS } from "./listen-failure.ts";
import type { LiveSocket, SocketHandler } from "./live/live-socket.ts";
import {
  createRequestHandler,
  type RequestHandlerOptions,
  type ServedConnection,
  sectionOf,
} from "./request-handler.ts";

interface ListenOptions extends RequestHandlerOptions {
  port: number;
  /** Other processes listen on it too: the system gives each connection to one of them. */
  sharesPorts?: boolean;
  /** Networks of proxies whose X-Forwarded-For is trusted. */
  trustedProxies?: readonly string[];
}

export interface Listener {
  readonly url: string;
  readonly port: number;
  /**
   * Continues as before for this long, or until the signal: load balancers need time to notice. Those that do not
   * check readiness notice afterwards: no new connection is accepted, so they use another instance without having sent
   * anything here.
   */
  linger(seconds: number, hurry?: AbortSignal): Promise<void>;
  /**
   * Resolves when the calls in flight have ended; only then does the port close. When the time is up, or the signal
   * fires, the remaining calls are ended with an error.
   */
  drain(seconds: number, hurry?: AbortSignal): Promise<void>;
  /** Closes every connection. Does nothing after a drain. */
  close(): Promise<void>;
}

const DRAIN_LOOK_MS = 20;
/** The port closes when no request has arrived for this long: late clients get a response that sends them elsewhere. */
const QUIET_MS = 60;
/** How long answering late clients may take. */
const LAST_WORDS_MS = 1_000;

/** The shortest idle timeout of the runtime. */
const HANG_UP_SECONDS = 1;
const NO_LIMIT = 0;

/**
 * Bun's own limit is a backstop above everything that can be configured: the gateway's applies first, in the caller's
 * protocol.
 */
const OUTER_WALL_BYTES = 16 * 1024 ** 3;

export function listen(options: ListenOptions): Listener {
  const { context } = options;
  const { clock } = context.gateway;
  const { idleConnectionMs, strangerConnectionMs, halfOpenConnectionMs } = context.gateway.timings;
  const idleSeconds = Math.ceil(idleConnectionMs / 1000);
  const strangerSeconds = Math.ceil(strangerConnectionMs / 1000);
  const handle = createRequestHandler(options);
  const addressOf = clientAddress(options.trustedProxies ?? []);

  /**
   * Calls whose response is not completely sent, including streams, and those that continue without their client
   * (H26).
   */
  const pending = () => {
    const { runningCalls, background } = context.gateway;
    return Math.max(server.pendingRequests, runningCalls, background.running);
  };

  const idle = async (withinMs: number, hurry?: AbortSignal): Promise<void> => {
    const deadlineMs = clock.nowMs() + withinMs;
    while (pending() > 0 && clock.nowMs() < deadlineMs && !hurry?.aborted) await clock.sleep(DRAIN_LOOK_MS);
  };

  let arrived = 0;
  /** Resolves when no more requests arrive, or after a timeout. */
  const quiet = async (withinMs: number): Promise<void> => {
    const deadlineMs = clock.nowMs() + withinMs;
    for (let before = -1; before !== arrived && clock.nowMs() < deadlineMs; ) {
      before = arrived;
      await clock.sleep(QUIET_MS);
    }
  };

  /** Their clients get a close frame, unless they take too long. */
  const closeSessions = async (): Promise<void> => {
    const deadlineMs = clock.nowMs() + LAST_WORDS_MS;
    context.live.close();
    while (context.live.open > 0 && clock.nowMs() < deadlineMs) await clock.sleep(DRAIN_LOOK_MS);
  };

  let lingers = false;
  /**
   * Connections that wait to be accepted when the port closes are reset. Most come from clients that just got a
   * response and retry, so responses wait for the moment of closing.
   */
  let portCloses: Promise<void> | undefined;
  const afterClosing = async (answer: Response | Promise<Response>): Promise<Response> => {
    const response = await answer;
    await portCloses;
    return response;
  };

  const server = serveOrExplain(sectionOf(options.routes), {
    hostname: options.host,
    port: options.port,
    reusePort: options.sharesPorts ?? false,
    // For connections without a valid key. The runtime closes one that sends no request at all after ten seconds.
    idleTimeout: strangerSeconds,
    maxRequestBodySize: OUTER_WALL_BYTES,
    websocket: {
      // Of a connection whose other side has disappeared. The runtime sends pings, so that others are not idle.
      idleTimeout: Math.ceil(halfOpenConnectionMs / 1000),
      // The runtime closes the connection. A session refuses a frame that is not much too large, and goes on.
      maxPayloadLength: 2 * context.gateway.snapshot.live.maxFrameBytes,
      // A session bounds what it has buffered. The runtime would drop frames.
      backpressureLimit: NO_LIMIT,
      open: (ws) => ws.data.opened(new ServedSocket(ws), handle),
      message: (ws, frame) => ws.data.message(frame),
      ping: (ws) => ws.data.pinged(),
      pong: (ws) => ws.data.pinged(),
      drain: (ws) => ws.data.drained(),
      close: (ws) => ws.data.closed(),
    },
    fetch: (request, server) => {
      arrived++;
      const answer = handle(request, new Connection(server, request, idleSeconds, addressOf));
      return lingers ? afterClosing(answer) : answer;
    },
  });
  return {
    url: `http://${options.host.includes(":") ? `[${options.host}]` : options.host}:${server.port}`,
    port: server.port ?? options.port,
    linger: async (seconds, hurry) => {
      lingers = true;
      const untilMs = clock.nowMs() + seconds * 1000;
      while (clock.nowMs() < untilMs && !hurry?.aborted) await clock.sleep(DRAIN_LOOK_MS);
      if (seconds === 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      portCloses = promise;
      await quiet(hurry?.aborted ? 0 : LAST_WORDS_MS);
      void server.stop(false);
      resolve();
    },
    drain: async (seconds, hurry) => {
      // The port stays open while calls run, so that new ones learn in their own protocol that the gateway is stopping.
      context.live.drain(seconds * 1000);
      await idle(seconds * 1000, hurry);
      await quiet(seconds === 0 || hurry?.aborted ? 0 : LAST_WORDS_MS);
      context.gateway.closing = true;
      await idle(LAST_WORDS_MS);
      await closeSessions();
      await server.stop(true);
    },
    close: () => server.stop(true),
  };
}

class Connection implements ServedConnection {
  trusted = false;
  shown: ServedConnection["shown"] = undefined;
  held = false;
  #hangsUp = false;
  #isUpgraded = false;
  readonly #server: Bun.Server<SocketHandler>;
  readonly #request: Request;
  readonly #idleSeconds: number;
  readonly #addressOf: ClientAddress;

  constructor(server: Bun.Server<SocketHandler>, request: Request, idleSeconds: number, addressOf: ClientAddress) {
    this.#server = server;
    this.#request = request;
    this.#idleSeconds = idleSeconds;
    this.#addressOf = addressOf;
  }

  get address(): string {
    return this.#addressOf(this.#server.requestIP(this.#request)?.address ?? "", this.#request.headers);
  }

  hold(): void {
    this.held = true;
    this.trusted = true;
    this.#server.timeout(this.#request, NO_LIMIT);
  }

  rest(): void {
    if (this.#hangsUp || this.#isUpgraded) return;
    this.#server.timeout(this.#request, this.#idleSeconds);
  }

  upgrade(handler: SocketHandler, headers: Record<string, string>): Response | undefined {
    this.#isUpgraded = this.#server.upgrade(this.#request, { data: handler, headers });
    return this.#isUpgraded ? new Response() : undefined;
  }

  hangUp(): void {
    this.#hangsUp = true;
    this.#server.timeout(this.#request, HANG_UP_SECONDS);
  }
}

/** A WebSocket of the runtime. */
class ServedSocket implements LiveSocket {
  readonly #socket: Bun.ServerWebSocket<SocketHandler>;

  constructor(socket: Bun.ServerWebSocket<SocketHandler>) {
    this.#socket = socket;
  }

  get waitingBytes(): number {
    return this.#socket.getBufferedAmount();
  }

  send(text: string): void {
    this.#socket.sendText(text);
  }

  together(write: () => void): void {
    this.#socket.cork(write);
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
  }

  terminate(): void {
    this.#socket.terminate();
  }
}

/** `section` is the part of the configuration with the host and port. */
function serveOrExplain(
  section: "server" | "admin",
  options: { hostname: string; port: number } & Bun.Serve.Options<SocketHandler>,
) {
  try {
    return Bun.serve(options);
  } catch (cause) {
    const fields = { host: `${section}.host`, port: `${section}.port`, portFlag: PORT_FLAGS[section] };
    throw listenFailure(cause, { host: options.hostname, port: options.port, fields });
  }
}
