import type { ServiceTarget } from "../../routing/target.ts";
import type { ServiceName } from "../../services/service-adapters.ts";
import { tryOffers } from "../attempt/try-offers.ts";
import type { Gateway } from "../gateway.ts";
import { billedLeg } from "../settle/bill-usage.ts";
import type { AdmittedCall } from "../settle/close-call.ts";
import { discountAt } from "../settle/discount.ts";
import { ServiceAttempt } from "./service-attempt.ts";
import type { ServiceCall } from "./service-call.ts";

/** Tries the offers in order. Usage of an attempt that failed is billed too, whichever offer answers (H14). */
export function tryService<Name extends ServiceName, Request, T>(
  call: ServiceCall<Request, Name>,
  gateway: Gateway,
  targets: readonly ServiceTarget<Name>[],
  use: (attempt: ServiceAttempt<Name>) => Promise<T>,
): Promise<T> {
  const begin = (target: ServiceTarget<Name>) => {
    if (call.attempt !== undefined) billLeg(call, call.attempt);
    return new ServiceAttempt<Name>(call, gateway, target);
  };
  return tryOffers(call, gateway, targets, begin, use);
}

function billLeg(call: Pick<AdmittedCall, "otherLegs" | "principal">, { used, target, terms }: ServiceAttempt): void {
  if (used === undefined) return;
  const leg = billedLeg(used.usage, target, terms, discountAt(call.principal, target));
  call.otherLegs = [...(call.otherLegs ?? []), leg];
}
