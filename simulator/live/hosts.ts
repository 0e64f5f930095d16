import { LiveHandles } from "../hosts/google/live/live-handles.ts";
import { liveHost } from "../hosts/google/live/live-host.ts";
import type { ClientSecrets } from "../hosts/openai/realtime/client-secrets.ts";
import { realtimeHost } from "../hosts/openai/realtime/realtime-host.ts";
import type { AcceptedSession, Handshake, LiveContext } from "./live-host.ts";

/** Every simulated host of live connections. Undefined for paths that have none. */
export function liveHosts(secrets: ClientSecrets, context: LiveContext) {
  const hosts = [realtimeHost(secrets), liveHost(new LiveHandles())];
  return (handshake: Handshake): AcceptedSession | undefined => {
    for (const host of hosts) {
      const accepted = host(handshake, context);
      if (accepted !== undefined) return accepted;
    }
    return undefined;
  };
}
