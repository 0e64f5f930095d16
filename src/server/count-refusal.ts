import { addressClass } from "../base/address-class.ts";
import type { ErrorKind } from "../canon/error.ts";
import type { Refusal } from "../ledger/refusals.ts";
import type { ClientConnection } from "../relay/call.ts";
import type { Gateway } from "../relay/gateway.ts";
import { networkOf } from "./failure-throttle.ts";

/** Counts a request that did not become a call, and returns whether to log it: not each of many similar ones. */
export function countRefusal(
  { metrics, refusals }: Pick<Gateway, "metrics" | "refusals">,
  reason: ErrorKind,
  { address, shown }: Pick<ClientConnection, "address" | "shown">,
  told?: Refusal["told"],
): boolean {
  const ofAddress = addressClass(address);
  metrics.refused(reason, shown?.keyId, ofAddress);
  const key = shown && { id: shown.keyId, project: shown.project };
  return refusals.count({ reason, key, addressClass: ofAddress, address: networkOf(address), told });
}
