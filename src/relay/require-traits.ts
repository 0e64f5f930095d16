import type { Principal } from "../access/principal.ts";
import { allowsModel } from "../access/scopes.ts";
import { GatewayError } from "../canon/error.ts";
import { describeRequirements, meets, type Requirements } from "../canon/offer-traits.ts";
import type { Resolved } from "../catalogue/catalogue.ts";
import type { Model } from "../catalogue/model.ts";
import type { CallRouting } from "../routing/call-routing.ts";
import type { Candidate } from "../routing/candidate.ts";
import type { Target } from "../routing/target.ts";
import type { Gateway } from "./gateway.ts";

/** Whether the operator has stated that a target has every required trait. */
export const hasTraits = ({ stated }: Pick<Target, "stated">, required: Requirements | undefined): boolean =>
  required === undefined || (stated !== undefined && meets(stated, required));

/** The candidates with the targets that have every required trait. */
export function withTraits<T extends Target>(
  candidates: readonly Candidate<T>[],
  required: Requirements | undefined,
): readonly Candidate<T>[] {
  if (required === undefined) return candidates;
  return candidates.flatMap((candidate) => {
    const targets = candidate.targets.filter((target) => hasTraits(target, required));
    if (targets.length === candidate.targets.length) return [candidate];
    return targets.length === 0 ? [] : [{ ...candidate, targets }];
  });
}

/** Refuses a call whose model has no offer with the required traits. */
export function requireTraits(
  { model, offers }: Pick<Resolved, "model" | "offers">,
  { require, preference }: CallRouting,
  principal: Principal,
  gateway: Gateway,
): void {
  if (require === undefined) return;
  for (const target of gateway.snapshot.targets.all())
    if (offers.includes(target.offer) && hasTraits(target, require)) return;
  // Another model may serve the call.
  if (typeof preference.fallback === "object" && "model" in preference.fallback) return;
  throw lacksTraits(model, require, principal, gateway);
}

/** How many models an error names. */
const MAX_NAMED = 5;

/** No offer has the required traits. The client learns which models would do. */
export function lacksTraits(
  model: Model | undefined,
  required: Requirements,
  principal: Principal,
  gateway: Gateway,
): GatewayError {
  const { targets } = gateway.snapshot;
  const able = new Set<string>();
  for (const target of targets.all()) {
    const isSameKind = model === undefined || target.model.kind === model.kind;
    if (isSameKind && hasTraits(target, required) && allowsModel(principal, target.model.id)) able.add(target.model.id);
  }
  const named = [...able].slice(0, MAX_NAMED).join(", ");
  const more = able.size > MAX_NAMED ? ` and ${able.size - MAX_NAMED} more` : "";
  const others =
    able.size === 0
      ? "No other model that this key may call has such an offer."
      : `Models with such an offer: ${named}${more}.`;
  const message = `No offer of ${model?.id ?? "the available models"} has the required traits ${describeRequirements(required)}. ${others}`;
  return new GatewayError("invalid_request", message, { path: "model", code: "required_traits" });
}
