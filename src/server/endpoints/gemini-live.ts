import { checkProtocol } from "../../access/scopes.ts";
import { GatewayError } from "../../canon/error.ts";
import { LIVE_DIALECTS } from "../../dialects/live-dialects.ts";
import { countRequest } from "../../relay/count-request.ts";
import { refuseManyValues, refuseRepeatedKeys } from "../../relay/request/read-body.ts";
import { countRefusal } from "../count-refusal.ts";
import { credentialOf } from "../credential.ts";
import { beginRelayed } from "../live/begin-relayed.ts";
import { countSession, requireUpgrade, upgrade } from "../live/open-session.ts";
import { SetupSession } from "../live/setup-session.ts";
import { IMAGE_HEADERS } from "../openapi/parameters.ts";
import type { Handler } from "../routed-request.ts";
import type { ClientEndpoint, EndpointPath } from "./client-endpoint.ts";

const PROTOCOL = "live";

/** The vendor's SDK adds a slash to a base URL that may end in one. */
const GEMINI_PATH = String.raw`ws/google\.ai\.generativelanguage\.v1(?:alpha|beta)?\.GenerativeService\.BidiGenerateContent`;
const VERTEX_PATH = String.raw`ws/google\.cloud\.aiplatform\.v1(?:beta1)?\.LlmBidiService/BidiGenerateContent`;
const SHOWN = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent";

const PATHS: readonly EndpointPath[] = [
  {
    door: "dropin",
    path: new RegExp(`^(?:/api/genai|/api/vertex-ai)?/+(?:${GEMINI_PATH}|${VERTEX_PATH})$`),
    documented: [{ path: SHOWN, suffix: "" }],
  },
];

/** The name of the model without the resource that contains it. */
const modelIn = (name: string): string => /(?:^|\/)models\/(.+)$/.exec(name)?.[1] ?? name;

const open: Handler = async (routed, { gateway, live, publicUrl }) => {
  const { request, connection, query, dialect } = routed;
  const { address } = connection;
  // The vendor's SDK sends its key only in the URL. It goes no further than here: turns have a URL without a query.
  const credential = query.get("key") || (credentialOf(request, undefined, dialect) ?? "");
  const principal = await gateway.keys.identify(credential, connection);
  await countRequest(principal, gateway);
  checkProtocol(principal, PROTOCOL);
  requireUpgrade(routed, `GET ${SHOWN} opens a WebSocket and needs the header Upgrade: websocket.`);
  const { id, release } = await countSession(principal, gateway);
  const protocol = LIVE_DIALECTS[PROTOCOL];
  const client = {
    id,
    release,
    caller: () => gateway.keys.again(credential, principal, { address }),
    principal,
    dialect: PROTOCOL,
    isOlder: false,
  } as const;
  const session = new SetupSession(
    {
      begin: (first, presence) => {
        refuseManyValues(first, gateway.snapshot);
        const name = protocol.check(first)?.model;
        if (name !== undefined) refuseRepeatedKeys(first);
        if (!name) throw new GatewayError("invalid_request", "setup.model is missing in the first message.");
        return beginRelayed(routed, { ...client, model: modelIn(name), first }, presence, { gateway, live, publicUrl });
      },
      refuse: (error) => {
        countRefusal(gateway, error.kind, { address, shown: principal });
        return { frames: [], close: protocol.close(error) };
      },
      release,
    },
    gateway,
  );
  try {
    return upgrade(connection, session, { "x-trivium-session": id });
  } catch (refusal) {
    release();
    throw refusal;
  }
};

export const openGeminiLive: ClientEndpoint = {
  method: "GET",
  paths: PATHS,
  id: "openGeminiLive",
  summary: "Open a WebSocket for a spoken conversation with a model, in the protocol of Gemini Live",
  dialect: "genai",
  parameters: IMAGE_HEADERS,
  answers: [{ status: 101, description: "The connection is a WebSocket from now on." }],
  handle: open,
};
