import { readTagsHeader } from "../../canon/tags.ts";
import type { IncomingCall } from "../../relay/call.ts";
import { relay } from "../../relay/relay.ts";
import { credentialOf, keyHeaderOf } from "../credential.ts";
import { namingOf } from "../naming.ts";
import type { Handler, RoutedRequest } from "../routed-request.ts";

/** A call at one of a dialect's endpoints. */
export const relayCall =
  (verb: IncomingCall["verb"]): Handler =>
  (routed, { gateway }) =>
    relay(incomingCall(verb, routed), gateway);

/** The dialect reads the URL and the headers. */
export function incomingCall(verb: IncomingCall["verb"], routed: RoutedRequest): IncomingCall {
  const { request, requestId, connection, query, parameters, dialect, door, onBehalf } = routed;
  const { headers } = request;
  const keyHeader = () => keyHeaderOf(request, dialect);
  const call = dialect.http.readCall(verb, { headers, query, parameters, door, keyHeader });
  return {
    ...onBehalf,
    request,
    requestId,
    connection,
    credential: credentialOf(request, query, dialect),
    dialect,
    door,
    naming: namingOf(routed),
    verb,
    modelInPath: call.model,
    streamInPath: call.stream,
    options: call.options,
    strict: headers.get("x-trivium-strict")?.toLowerCase() === "true",
    tags: readTagsHeader(headers),
  };
}
