import { bearerOf } from "../../../credentials.ts";
import type { LiveHost } from "../../../live/live-host.ts";
import { traitsOf } from "../../../text/traits.ts";
import { invalid, missingKey, modelNotFound, openaiFailure, wrongKey } from "../text/errors.ts";
import type { ClientSecrets } from "./client-secrets.ts";
import { RealtimeSession } from "./realtime-session.ts";
import { subprotocols } from "./subprotocols.ts";

const PATHS = /^\/(?:openai\/v1|hosts\/(?:openai|azure-openai)(?:\/[^/]+)*)\/realtime$/;
const MODELS = /^(?:realtime|gpt-realtime(?:-.+)?|gpt-4o-(?:mini-)?realtime(?:-.+)?)$/;
const PROTOCOL = "realtime";
/** Codes with which the host closes a connection that it has opened and refuses. */
const BAD_KEY = 3000;
const BAD_MODEL = 4000;

/** OpenAI's Realtime API, and Azure's. */
export const realtimeHost =
  (secrets: ClientSecrets): LiveHost =>
  ({ url, headers }, context) => {
    if (!PATHS.test(url.pathname)) return undefined;
    const { offered, key: inProtocol } = subprotocols(headers);
    const key = headers.get("api-key") ?? bearerOf(headers) ?? inProtocol;
    if (key === undefined || key === "") throw missingKey();
    const secret = secrets.find(key);
    const model = url.searchParams.get("model") ?? url.searchParams.get("deployment") ?? secret?.model;
    if (model === undefined || model === "") throw invalid("you must provide a model parameter", null, null);
    const { fault } = traitsOf(model) ?? {};
    if (fault?.kind === "fail") throw openaiFailure(fault.failure, model);
    const isKnown = secret !== undefined || (context.credentials.accepts(key) && !key.startsWith("ek_"));
    const refusal = isKnown
      ? refusalOf(model, secret?.model)
      : { error: wrongKey(key), code: BAD_KEY, reason: "invalid_request_error.invalid_api_key" };
    const session = new RealtimeSession(context, {
      model,
      number: context.nextSession(),
      session: secret?.session,
      refusal,
    });
    return { session, ...(offered.includes(PROTOCOL) ? { protocol: PROTOCOL } : {}) };
  };

function refusalOf(model: string, ofSecret: string | undefined) {
  if (MODELS.test(model) && (ofSecret === undefined || ofSecret === model)) return undefined;
  return { error: modelNotFound(model), code: BAD_MODEL, reason: "invalid_request_error.model_not_found" };
}
