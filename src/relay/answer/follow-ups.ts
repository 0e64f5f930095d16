import type { Call, ClientConnection, IncomingCall } from "../call.ts";

/** Calls that the gateway makes for a client in the course of one response. */
export interface FollowUps {
  /** The client's request, as the basis of each. */
  incoming: IncomingCall;
  /** Ends the one that runs. */
  controller: AbortController;
  /** No more will follow. */
  release: () => void;
}

/** The whole response holds the client's connection, so that single calls must not. They end when the client disconnects. */
export function beginFollowUps({ incoming: first, routing }: Call): FollowUps {
  const incoming = { ...first, require: routing.require };
  const controller = new AbortController();
  const left = incoming.request.signal;
  const leave = () => controller.abort();
  if (left.aborted) leave();
  else left.addEventListener("abort", leave, { once: true });
  incoming.connection.hold();
  const release = () => {
    left.removeEventListener("abort", leave);
    incoming.connection.rest();
  };
  return { incoming: silent(incoming, controller.signal), controller, release };
}

function silent(incoming: IncomingCall, signal: AbortSignal): IncomingCall {
  const { connection, request } = incoming;
  const { address, session } = connection;
  const hangUp = () => connection.hangUp();
  const quiet: ClientConnection = { trusted: true, address, session, hold: () => {}, rest: () => {}, hangUp };
  return { ...incoming, connection: quiet, request: new Request(request.url, { headers: request.headers, signal }) };
}
