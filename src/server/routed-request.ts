import type { Operator } from "../access/operator-access.ts";
import type { Principal } from "../access/principal.ts";
import type { Dialect } from "../dialects/dialect.ts";
import type { Door } from "../dialects/reading/check.ts";
import type { DialectRegistry } from "../dialects/registry.ts";
import type { Operations } from "../operations/operations.ts";
import type { BatchLine, ClientConnection } from "../relay/call.ts";
import type { Gateway } from "../relay/gateway.ts";
import type { Storage } from "../storage/storage.ts";
import type { GatewayCondition } from "./condition.ts";

/** What handlers need from the program. */
export interface ServerContext {
  dialects: DialectRegistry;
  gateway: Gateway;
  storage: Storage;
  operations: Operations;
  /** The program is stopping: readiness reports it, and no connection is kept. */
  draining: () => boolean;
  /** Whether new calls are accepted. */
  accepting: () => boolean;
  /** The health of the gateway, from memory. */
  condition: () => GatewayCondition;
  publicUrl: () => string;
  version: string;
}

/** A request that has found its route. */
export interface RoutedRequest {
  request: Request;
  requestId: string;
  connection: ClientConnection & { readonly address: string };
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
