import type { Call, LaneAttempt } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import type { Lane } from "./lane.ts";
import { NativeLane } from "./native.ts";
import { TranslatedLane } from "./translated.ts";

/**
 * Native if both sides speak the same dialect, unless only the canon can remove something from the request, such as an opaque value
 * of another family (H01), or the host hides in text what the contract has a field for.
 */
export function chooseLane(call: Call, gateway: Gateway, attempt: LaneAttempt): Lane {
  const { dialect } = call.incoming;
  const { target } = attempt;
  const native = target.via === dialect.name && !dialect.native.needsCanon(call.body, target, gateway.sealed);
  return native ? new NativeLane(call, gateway, attempt) : new TranslatedLane(call, gateway, attempt);
}
