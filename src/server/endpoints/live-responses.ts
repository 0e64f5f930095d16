import { checkProtocol } from "../../access/scopes.ts";
import { whenShared } from "../../access/share-refusal.ts";
import { timePrefix } from "../../base/timed-id.ts";
import { GatewayError } from "../../canon/error.ts";
import { countedCaller } from "../counted-caller.ts";
import { credentialOf } from "../credential.ts";
import { ResponsesSession } from "../live/responses-session.ts";
import { IMAGE_HEADERS } from "../openapi/parameters.ts";
import type { Handler } from "../routed-request.ts";
import type { ClientEndpoint } from "./client-endpoint.ts";
import { dropInChatPaths } from "./paths.ts";

const SESSION_PREFIX = "ses_";

/** Headers of the handshake, which turns do not have. */
const OF_THE_HANDSHAKE = /^(connection|upgrade|sec-websocket-.*|content-.*|transfer-encoding)$/;

/** Opens a WebSocket. Everything that can be refused is refused before, as a plain response. */
const open: Handler = async (routed, { gateway, live, publicUrl }) => {
  const { request, connection, dialect } = routed;
  const principal = await countedCaller(routed, gateway);
  checkProtocol(principal, dialect.name);
  if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") {
    const message =
      "GET /v1/responses opens a WebSocket and needs the header Upgrade: websocket. To create a response over HTTP, use POST.";
    throw new GatewayError("method_not_allowed", message);
  }
  const { admissions, clock, random, snapshot } = gateway;
  const count = () => admissions.openSession(principal, snapshot.live.sessionsPerKey);
  let release: () => void;
  try {
    release = count();
  } catch (refusal) {
    release = await whenShared(refusal, count, clock.nowMs);
  }
  const headers = new Headers([...request.headers].filter(([name]) => !OF_THE_HANDSHAKE.test(name)));
  const id = SESSION_PREFIX + timePrefix(clock.nowMs()) + random.id();
  // A request without a host has only a path.
  const { origin, pathname } = new URL(request.url, publicUrl());
  const { address } = connection;
  const credential = credentialOf(request, routed.query, dialect) ?? "";
  const by = { id, principal, credential, url: `${origin}${pathname}`, headers, address, dialect, release };
  const session = new ResponsesSession(by, gateway, live);
  const response = connection.upgrade?.(session, { "x-trivium-session": id });
  if (response !== undefined) return response;
  release();
  throw new GatewayError(
    "invalid_request",
    "The WebSocket handshake is incomplete. Check the headers Sec-WebSocket-Key and Sec-WebSocket-Version.",
  );
};

export const openResponses: ClientEndpoint = {
  method: "GET",
  paths: dropInChatPaths("/responses"),
  id: "openResponses",
  summary: "Open a WebSocket on which several responses are created",
  dialect: "responses",
  parameters: IMAGE_HEADERS,
  answers: [{ status: 101, description: "The connection is a WebSocket from now on." }],
  handle: open,
};
