import { readTagsHeader } from "../canon/tags.ts";
import type { IncomingRequest } from "../relay/call.ts";
import { credentialOf } from "./credential.ts";
import { namingOf } from "./naming.ts";
import type { RoutedRequest } from "./routed-request.ts";

/** A routed request as the relay takes it, of any kind. */
export const incomingRequest = (routed: RoutedRequest): IncomingRequest => ({
  ...incomingOf(routed),
  credential: credentialOf(routed.request, routed.query, routed.dialect),
});

/** The same without its key. */
export function incomingOf(routed: RoutedRequest): Omit<IncomingRequest, "credential"> {
  const { request, requestId, connection, dialect, door, onBehalf } = routed;
  return {
    ...onBehalf,
    request,
    requestId,
    connection,
    dialect,
    door,
    naming: namingOf(routed),
    strict: request.headers.get("x-trivium-strict")?.toLowerCase() === "true",
    tags: readTagsHeader(request.headers),
  };
}

/** A request to a verb, whose path names the model. */
export const incomingAtVerb = (routed: RoutedRequest): IncomingRequest & { modelInPath: string } => ({
  ...incomingRequest(routed),
  modelInPath: routed.dialect.http.readModel(routed.parameters),
});
