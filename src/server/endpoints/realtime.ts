import { checkProtocol } from "../../access/scopes.ts";
import { GatewayError } from "../../canon/error.ts";
import { countRequest } from "../../relay/count-request.ts";
import { credentialOf } from "../credential.ts";
import { beginRelayed, OpeningPresence } from "../live/begin-relayed.ts";
import { keyOfSecret, LIVE_SECRET_PREFIX, openLiveSecret } from "../live/live-secrets.ts";
import { countSession, requireUpgrade, upgrade } from "../live/open-session.ts";
import { IMAGE_HEADERS } from "../openapi/parameters.ts";
import type { Handler, RoutedRequest, ServerContext } from "../routed-request.ts";
import type { ClientEndpoint } from "./client-endpoint.ts";
import { dropInChatPaths } from "./paths.ts";

/** Browsers cannot set headers of a handshake: the vendor's SDK lists its key among the subprotocols. */
const KEY_PROTOCOL = "openai-insecure-api-key.";
const PROTOCOL = "realtime";
const BETA_PROTOCOL = "openai-beta.realtime-v1";

const protocolsOf = ({ headers }: Request): string[] =>
  (headers.get("sec-websocket-protocol") ?? "").split(",").map((name) => name.trim());

/** Opens a session. Everything that can be refused is refused before the upgrade, as a plain response. */
const open: Handler = async (routed, context) => {
  const { request, connection, query } = routed;
  const { gateway, live, publicUrl } = context;
  const offered = protocolsOf(request);
  const opened = await authenticate(routed, offered, context);
  const { principal } = opened;
  checkProtocol(principal, PROTOCOL);
  requireUpgrade(routed, "GET /v1/realtime opens a WebSocket and needs the header Upgrade: websocket.");
  refuseOtherSessions(query);
  const model = query.get("model") ?? opened.model;
  if (!model) throw new GatewayError("invalid_request", "model is missing: add ?model= to the URL.", { path: "model" });
  if (opened.model !== undefined && model !== opened.model)
    throw new GatewayError("forbidden", `This client secret is for the model ${opened.model} only.`, { path: "model" });
  const isOlder =
    offered.includes(BETA_PROTOCOL) || request.headers.get("openai-beta")?.includes("realtime=v1") === true;
  const { id, release } = await countSession(principal, gateway);
  const { caller } = opened;
  const client = { id, release, caller, principal, dialect: PROTOCOL, isOlder, model, ...opened.start } as const;
  try {
    const asked = { ...routed, request: opened.request };
    const session = await beginRelayed(asked, client, new OpeningPresence(request.signal), {
      gateway,
      live,
      publicUrl,
    });
    const chosen: Record<string, string> = offered.includes(PROTOCOL) ? { "sec-websocket-protocol": PROTOCOL } : {};
    try {
      return upgrade(connection, session, { "x-trivium-session": id, ...chosen });
    } catch (refusal) {
      session.abandon();
      throw refusal;
    }
  } catch (refusal) {
    release();
    throw refusal;
  }
};

/** The caller by its key, or by a client secret that a key has made. */
async function authenticate(routed: RoutedRequest, offered: readonly string[], { gateway, storage }: ServerContext) {
  const { request, query, dialect, connection } = routed;
  const { address } = connection;
  const inProtocol = offered.find((name) => name.startsWith(KEY_PROTOCOL))?.slice(KEY_PROTOCOL.length);
  const credential =
    credentialOf(request, query, dialect) ?? request.headers.get("api-key")?.trim() ?? inProtocol ?? "";
  if (credential.startsWith(LIVE_SECRET_PREFIX)) {
    const { principal, model, session, headers } = await openLiveSecret(storage, credential, connection, gateway);
    await countRequest(principal, gateway);
    const commands = [JSON.stringify({ type: "session.update", session })];
    const { keyId, project } = principal;
    const start = Object.keys(session).length === 0 ? {} : { commands };
    // What the request that made the secret has said holds, whatever its holder says.
    const all = new Headers(request.headers);
    for (const [name, value] of Object.entries(headers)) all.set(name, value);
    const asked = new Request(request.url, { headers: all, signal: request.signal });
    return { principal, caller: () => keyOfSecret({ keyId, project }, gateway), model, start, request: asked };
  }
  const principal = await gateway.keys.identify(credential, connection);
  await countRequest(principal, gateway);
  return {
    principal,
    caller: () => gateway.keys.again(credential, principal, { address }),
    model: undefined,
    start: {},
    request,
  };
}

/** What the vendor's address serves besides conversations with a model. */
function refuseOtherSessions(query: URLSearchParams): void {
  for (const name of ["intent", "call_id"]) {
    if (!query.has(name)) continue;
    const message = `${name} is not supported: sessions are conversations with the model that ?model= names.`;
    throw new GatewayError("unsupported_parameter", message, { path: name });
  }
}

export const openRealtime: ClientEndpoint = {
  method: "GET",
  paths: dropInChatPaths("/realtime"),
  id: "openRealtime",
  summary: "Open a WebSocket for a spoken conversation with a model",
  dialect: "chat",
  parameters: ["live-model", ...IMAGE_HEADERS],
  answers: [{ status: 101, description: "The connection is a WebSocket from now on." }],
  handle: open,
};
