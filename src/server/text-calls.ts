import { GatewayError } from "../canon/error.ts";
import { IMPLIED_PUBLISHER } from "../dialects/genai/options.ts";
import type { IncomingCall } from "../relay/call.ts";
import { relay } from "../relay/relay.ts";
import { credentialOf, keyHeaderOf } from "./credential.ts";
import { checkVersion, readBetas } from "./messages-headers.ts";
import { namingOf } from "./naming.ts";
import type { Handler, RoutedRequest } from "./routed-request.ts";

function incomingCall(routed: RoutedRequest): IncomingCall {
  const { request, requestId, connection, query, dialect, door } = routed;
  return {
    request,
    requestId,
    connection,
    credential: credentialOf(request, query, dialect),
    dialect,
    door,
    naming: namingOf(routed),
    verb: "generate",
    options: undefined,
    strict: request.headers.get("x-trivium-strict")?.toLowerCase() === "true",
  };
}

export const createChatCompletion: Handler = (routed, { gateway }) => relay(incomingCall(routed), gateway);

export const createMessage: Handler = (routed, { gateway }) => {
  checkVersion(routed.request.headers);
  return relay({ ...incomingCall(routed), options: { betas: readBetas(routed.request.headers) } }, gateway);
};

export const countMessageTokens: Handler = (routed, { gateway }) => {
  checkVersion(routed.request.headers);
  const betas = readBetas(routed.request.headers);
  return relay({ ...incomingCall(routed), verb: "count_tokens", streamInPath: false, options: { betas } }, gateway);
};

const STREAM_VERB = "streamGenerateContent";
const GENERATE_VERBS = new Set(["generateContent", STREAM_VERB]);

export const generateContent: Handler = (routed, { gateway }) => {
  const verb = routed.parameters["verb"] ?? "";
  if (!GENERATE_VERBS.has(verb)) {
    const known = [...GENERATE_VERBS, "countTokens", "predict", "predictLongRunning", "fetchPredictOperation"].join(
      ", ",
    );
    throw new GatewayError("not_found", `There is no verb "${verb}" here; the verbs are ${known}.`, {
      code: "unknown_verb",
    });
  }
  const stream = verb === STREAM_VERB;
  return relay(
    {
      ...incomingCall(routed),
      modelInPath: modelInPath(routed.parameters),
      streamInPath: stream,
      options: {
        bareFinishReason: readsVendorSpelling(routed),
        arrayFraming: stream && routed.query.get("alt") !== "sse",
      },
    },
    gateway,
  );
};

export const countGenaiTokens: Handler = (routed, { gateway }) => {
  const modelName = modelInPath(routed.parameters);
  return relay(
    {
      ...incomingCall(routed),
      verb: "count_tokens",
      modelInPath: modelName,
      streamInPath: false,
      options: { bareFinishReason: true, arrayFraming: false },
    },
    gateway,
  );
};

/** A name without a publisher is one of the vendor's own, whose SDK leaves it out. */
export function modelInPath({ publisher, name, id, bareId }: Readonly<Record<string, string>>): string {
  if (publisher !== undefined && name !== undefined) return `${publisher}/${name}`;
  const found = id ?? bareId ?? "";
  return found.includes("/") ? found : `${IMPLIED_PUBLISHER}/${found}`;
}

/**
 * Who gives the key in the vendor's header, sends the vendor's mark of its SDKs, or knocks at the drop-in door, reads `STOP`;
 * the contract's clients `FINISH_REASON_STOP` (choices 3).
 */
function readsVendorSpelling({ request, door, dialect }: RoutedRequest): boolean {
  if (door === "dropin" || request.headers.has("x-goog-api-client")) return true;
  return keyHeaderOf(request, dialect) === "x-goog-api-key";
}
