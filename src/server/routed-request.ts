import type { Operator } from "../access/people/operator.ts";
import type { Principal } from "../access/principal.ts";
import type { Dialect } from "../dialects/dialect.ts";
import type { Door } from "../dialects/reading/check.ts";
import type { DialectRegistry } from "../dialects/registry.ts";
import type { Operations } from "../operations/operations.ts";
import type { BatchLine, ClientConnection } from "../relay/call.ts";
import type { Gateway } from "../relay/gateway.ts";
import type { Storage } from "../storage/storage.ts";
import type { GatewayCondition } from "./condition.ts";
import type { LiveSessions } from "./live/live-sessions.ts";
import type { SocketHandler } from "./live/live-socket.ts";

/** What handlers need from the program. */
export interface ServerContext {
  dialects: DialectRegistry;
  gateway: Gateway;
  storage: Storage;
  operations: Operations;
  /** Open live connections. */
  live: LiveSessions;
  /** The program is stopping: readiness reports it, and no connection is kept. */
  draining: () => boolean;
  /** Whether new calls are accepted. */
  accepting: () => boolean;
  /** The health of the gateway, from memory. */
  condition: () => GatewayCondition;
  publicUrl: () => string;
  version: string;
}

/** The connection of a request as handlers use it. */
export interface RoutedConnection extends ClientConnection {
  /** Makes a WebSocket of it. Undefined if the handshake is incomplete; otherwise a response that is never sent. */
  upgrade?(handler: SocketHandler, headers: Record<string, string>): Response | undefined;
}

/** A request that has found its route. */
export interface RoutedRequest {
  request: Request;
  requestId: string;
  connection: RoutedConnection;
  /** The sender; undefined unless the endpoint is for operators. */
  operator: Operator | undefined;
  parameters: Readonly<Record<string, string>>;
  query: URLSearchParams;
  /** Set if the gateway itself runs a line of a batch, for this key. */
  onBehalf?: { principal: Principal; line: BatchLine };
  /** The protocol of its response. */
  dialect: Dialect;
  door: Door;
}

export type Handler = (routed: RoutedRequest, context: ServerContext) => Response | Promise<Response>;
