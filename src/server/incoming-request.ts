import { readTagsHeader } from "../canon/tags.ts";
import type { IncomingRequest } from "../relay/call.ts";
import type { IncomingService } from "../relay/service/service-call.ts";
import { credentialOf } from "./credential.ts";
import { namingOf } from "./naming.ts";
import type { RoutedRequest } from "./routed-request.ts";

/** A routed request as the relay takes it, whatever it asks for. */
export function incomingRequest(routed: RoutedRequest): IncomingRequest {
  const { request, requestId, connection, query, dialect } = routed;
  return {
    request,
    requestId,
    connection,
    credential: credentialOf(request, query, dialect),
    dialect,
    naming: namingOf(routed),
    strict: request.headers.get("x-trivium-strict")?.toLowerCase() === "true",
    tags: readTagsHeader(request.headers),
  };
}

export const incomingService = (routed: RoutedRequest): IncomingService => ({
  ...incomingRequest(routed),
  door: routed.door,
});

/** A request to a verb, whose path names the model. */
export const incomingAtVerb = (routed: RoutedRequest): IncomingService & { modelInPath: string } => ({
  ...incomingService(routed),
  modelInPath: routed.dialect.http.readModel(routed.parameters),
});
