import type { IncomingCall } from "../relay/call.ts";
import { relay } from "../relay/relay.ts";
import { credentialOf, keyHeaderOf } from "./credential.ts";
import { namingOf } from "./naming.ts";
import type { Handler } from "./routed-request.ts";

/** A call at one of a dialect's endpoints: the dialect reads the URL and the headers. */
export const relayCall =
  (verb: IncomingCall["verb"]): Handler =>
  (routed, { gateway }) => {
    const { request, requestId, connection, query, parameters, dialect, door } = routed;
    const { headers } = request;
    const keyHeader = () => keyHeaderOf(request, dialect);
    const call = dialect.http.readCall(verb, { headers, query, parameters, door, keyHeader });
    return relay(
      {
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
      },
      gateway,
    );
  };
