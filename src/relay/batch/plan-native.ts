import { GatewayError } from "../../canon/error.ts";
import type { TextTarget } from "../../routing/target.ts";
import type { Call, NativePass } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { planText } from "../request/plan-call.ts";
import { hasTraits } from "../require-traits.ts";
import type { ServedModel } from "../settle/served-model.ts";

/** A request that is valid, but that the batch API of the batch cannot run. */
export class UnfitLineError extends GatewayError {}

export const unfitLine = (reason: string): UnfitLineError => new UnfitLineError("invalid_request", reason);

/**
 * The target of a line. A line whose request is prepared must be one that the batch's offer would serve first. One that was answered
 * belongs to the target that answered, whatever its health is now.
 */
export function planNative(call: Call, served: ServedModel, { target: id, response }: NativePass, gateway: Gateway) {
  if (response !== undefined) {
    const answered = id === undefined ? undefined : targetNamed(id, served, gateway);
    if (answered === undefined)
      throw new GatewayError("internal", "The offer of this batch is not configured any more.");
    return answered;
  }
  const [first] = planText(call, gateway, served).targets;
  if (first === undefined) throw unfitLine("No offer can serve this request.");
  if (id === undefined || first.id === id) return first;
  const named = targetNamed(id, served, gateway);
  const chosen = named && hasTraits(named, call.routing.require) ? named : undefined;
  // Another credential of the same offer will do.
  if (chosen?.offer !== first.offer || chosen.via !== first.via)
    throw unfitLine("Its requests go to more than one offer.");
  return chosen;
}

const targetNamed = (id: string, { offers, fallback }: ServedModel, { snapshot }: Gateway): TextTarget | undefined =>
  [...offers, ...(fallback?.offers ?? [])]
    .flatMap((offer) => snapshot.targets.textOf(offer))
    .find((target) => target.id === id);
