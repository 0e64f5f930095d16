import { bearerOf } from "../../../credentials.ts";
import type { Handshake, LiveContext, LiveHost } from "../../../live/live-host.ts";
import { type GoogleHost, missingKey, wrongKey, wrongToken } from "../text/errors.ts";
import type { LiveHandles } from "./live-handles.ts";
import { LiveSession } from "./live-session.ts";
import { type Refusal, refusalOf } from "./refusal.ts";

const GEMINI =
  /^\/gemini(?:\/v1\w*)?\/+ws\/google\.ai\.generativelanguage\.(v1|v1alpha|v1beta)\.GenerativeService\.BidiGenerateContent$/;
const VERTEX =
  /^\/vertex(?:\/v1\w*)?\/+ws\/google\.cloud\.aiplatform\.(v1|v1beta1)\.LlmBidiService\/BidiGenerateContent$/;

/** Google's Live API on both of its hosts. */
export const liveHost =
  (handles: LiveHandles): LiveHost =>
  (handshake, context) => {
    const { pathname } = handshake.url;
    const gemini = GEMINI.exec(pathname)?.[1];
    const version = gemini ?? VERTEX.exec(pathname)?.[1];
    if (version === undefined) return undefined;
    const host: GoogleHost = gemini === undefined ? "vertex" : "gemini";
    const refusal = refusalOfKey(handshake, context, host);
    const session = new LiveSession(context, { host, version, number: context.nextSession(), handles, refusal });
    return { session };
  };

/** A wrong key is refused when the connection is open, a missing token before. */
function refusalOfKey({ url, headers }: Handshake, context: LiveContext, host: GoogleHost): Refusal | undefined {
  const bearer = bearerOf(headers);
  if (bearer !== undefined && context.acceptsToken(bearer)) return undefined;
  if (host === "vertex") {
    const key = headers.get("x-goog-api-key");
    if (key === null || !context.credentials.accepts(key)) throw wrongToken(host);
    return undefined;
  }
  const key = headers.get("x-goog-api-key") ?? url.searchParams.get("key") ?? bearer ?? "";
  if (key === "") return refusalOf(missingKey());
  return context.credentials.accepts(key) ? undefined : refusalOf(wrongKey(host));
}
