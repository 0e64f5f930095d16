import type { Principal } from "../../access/principal.ts";
import { whenShared } from "../../access/share-refusal.ts";
import { timePrefix } from "../../base/timed-id.ts";
import { GatewayError } from "../../canon/error.ts";
import type { Gateway } from "../../relay/gateway.ts";
import type { RoutedConnection, RoutedRequest } from "../routed-request.ts";
import type { SocketHandler } from "./live-socket.ts";

const SESSION_PREFIX = "ses_";

/** Headers of the handshake, which turns do not have. */
const OF_THE_HANDSHAKE = /^(connection|upgrade|sec-websocket-.*|content-.*|transfer-encoding)$/;

/** A session that counts towards the limits of its key. */
interface CountedSession {
  id: string;
  /** Counts it no longer. */
  release: () => void;
}

/** Throws for a request that is not the handshake of a WebSocket. */
export function requireUpgrade({ request }: Pick<RoutedRequest, "request">, message: string): void {
  if (request.headers.get("upgrade")?.toLowerCase() === "websocket") return;
  throw new GatewayError("method_not_allowed", message);
}

/** Waits briefly if other processes hold the rest of a limit. */
export async function countSession(principal: Principal, gateway: Gateway): Promise<CountedSession> {
  const { admissions, clock, random, snapshot } = gateway;
  const count = () => admissions.openSession(principal, snapshot.live.sessionsPerKey);
  let release: () => void;
  try {
    release = count();
  } catch (refusal) {
    release = await whenShared(refusal, count, clock.nowMs);
  }
  return { id: SESSION_PREFIX + timePrefix(clock.nowMs()) + random.id(), release };
}

/** The headers of the handshake that hold for all turns. */
export const headersOfTurns = ({ headers }: Request): Headers =>
  new Headers([...headers].filter(([name]) => !OF_THE_HANDSHAKE.test(name)));

/** Throws if the handshake is incomplete; the session is then not open. */
export function upgrade(
  connection: RoutedConnection,
  session: SocketHandler,
  headers: Record<string, string>,
): Response {
  const response = connection.upgrade?.(session, headers);
  if (response !== undefined) return response;
  throw new GatewayError(
    "invalid_request",
    "The WebSocket handshake is incomplete. Check the headers Sec-WebSocket-Key and Sec-WebSocket-Version.",
  );
}
