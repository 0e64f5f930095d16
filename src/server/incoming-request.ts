import { readTagsHeader } from "../canon/tags.ts";
import type { IncomingRequest } from "../relay/call.ts";
import { credentialOf } from "./credential.ts";
import { namingOf } from "./naming.ts";
import type { RoutedRequest } from "./routed-request.ts";

/** A routed request as the relay takes it, of any kind. */
export function incomingRequest(routed: RoutedRequest): IncomingRequest {
  const { request, requestId, connection, query, dialect, door, onBehalf } = routed;
  return {
    ...onBehalf,
    request,
    requestId,
    connection,
    credential: credentialOf(request, query, dialect),
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
