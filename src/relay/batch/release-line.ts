import type { Gateway } from "../gateway.ts";
import type { AdmittedCall } from "../settle/close-call.ts";

/** Releases what a call holds that was only prepared. */
export function releaseLine({ admission, memory, client }: AdmittedCall, gateway: Gateway): void {
  admission.release({ costNanoUsd: 0, tokens: 0 });
  gateway.runningCalls--;
  gateway.calls.remove(client);
  memory.release();
  client.release();
}
