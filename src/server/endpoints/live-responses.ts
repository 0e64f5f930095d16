import { checkProtocol } from "../../access/scopes.ts";
import { countedCaller } from "../counted-caller.ts";
import { credentialOf } from "../credential.ts";
import { countSession, headersOfTurns, requireUpgrade, upgrade } from "../live/open-session.ts";
import { ResponsesSession } from "../live/responses-session.ts";
import { IMAGE_HEADERS } from "../openapi/parameters.ts";
import type { Handler } from "../routed-request.ts";
import type { ClientEndpoint } from "./client-endpoint.ts";
import { dropInChatPaths } from "./paths.ts";

/** Opens a WebSocket. Everything that can be refused is refused before, as a plain response. */
const open: Handler = async (routed, { gateway, live, publicUrl }) => {
  const { request, connection, dialect } = routed;
  const principal = await countedCaller(routed, gateway);
  checkProtocol(principal, dialect.name);
  requireUpgrade(
    routed,
    "GET /v1/responses opens a WebSocket and needs the header Upgrade: websocket. To create a response over HTTP, use POST.",
  );
  const { id, release } = await countSession(principal, gateway);
  // A request without a host has only a path.
  const { origin, pathname } = new URL(request.url, publicUrl());
  const { address } = connection;
  const credential = credentialOf(request, routed.query, dialect) ?? "";
  const by = {
    id,
    principal,
    caller: () => gateway.keys.authenticate(credential, { address }),
    credential,
    url: `${origin}${pathname}`,
    headers: headersOfTurns(request),
    address,
    protocol: dialect.name,
    dialect,
    release,
  };
  const session = new ResponsesSession(by, gateway, live);
  try {
    return upgrade(connection, session, { "x-trivium-session": id });
  } catch (refusal) {
    release();
    throw refusal;
  }
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
