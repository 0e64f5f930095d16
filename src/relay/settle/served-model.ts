import type { Principal } from "../../access/principal.ts";
import { allowsModel } from "../../access/scopes.ts";
import type { JsonObject } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import type { Fallback } from "../../canon/preference.ts";
import type { Resolved } from "../../catalogue/catalogue.ts";
import type { Model, Offer } from "../../catalogue/model.ts";
import type { CallRouting } from "../../routing/call-routing.ts";
import type { IncomingCall } from "../call.ts";
import type { Gateway } from "../gateway.ts";

/** Another model, which is tried after all offers of the first have failed. */
export interface FallbackModel {
  readonly model: Model;
  readonly offers: readonly Offer[];
  readonly why: string;
}

/** The model that serves a call, and the one that may serve it instead. */
export interface ServedModel extends Resolved {
  /** Why the gateway chose the model, if it did. */
  readonly modelWhy?: string;
  readonly fallback?: FallbackModel | undefined;
}

/** The caller, its request and its routing. */
export interface ServingCall {
  readonly incoming: Pick<IncomingCall, "dialect" | "naming">;
  readonly principal: Principal;
  readonly routing: CallRouting;
  readonly body: JsonObject;
}

/** A resolved model with the fallback that the call, its key or the operator names. Usually there is none, and nothing is allocated. */
export function servedModel(resolved: Resolved, call: ServingCall, gateway: Gateway): ServedModel {
  const { fallback } = call.routing.preference;
  if (typeof fallback !== "object" || !("model" in fallback)) return resolved;
  const found = namedFallback(fallback, resolved.model, call, gateway);
  return found === undefined ? resolved : { ...resolved, fallback: found };
}

/**
 * A fallback that the call names was checked when it was read. One that its key or the operator names for all calls is skipped if
 * it is the model itself, or if the key may not call it.
 */
export function namedFallback(
  fallback: Exclude<Fallback, string> & { readonly model: string },
  model: Model,
  { incoming, principal }: ServingCall,
  { snapshot }: Gateway,
): FallbackModel | undefined {
  const found = snapshot.catalogue.resolve(fallback.model, incoming.naming);
  if (found.model === model || !allowsModel(principal, found.model.id)) return undefined;
  if (!found.model.outputModalities.includes("text")) {
    const message = `The fallback model ${found.model.id} does not generate text.`;
    throw new GatewayError("invalid_request", message, { path: "provider.fallback" });
  }
  return { model: found.model, offers: found.offers, why: `the named fallback: ${found.model.id}` };
}
