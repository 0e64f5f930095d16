import type { JsonObject } from "../../base/json.ts";
import type { FieldNote } from "../../canon/receipt.ts";

/** Whichever model answered, scopes and price would be those of the requested model (S07). */
export const ONE_MODEL = "only the requested model answers";

/** These name other models, which a host that is itself a gateway might call. A preset of its account may also have tools. */
const OTHER_MODELS = ["models", "fallbacks", "preset"] as const;

/**
 * Never sent to an upstream: fields addressed to the gateway (contract 2.12, choices 8; read by read-routing.ts), and fields that
 * name other models.
 */
export const ROUTING_FIELDS = ["provider", "model_routing_config", "trivium", ...OTHER_MODELS] as const;

export function noteOtherModels(body: JsonObject, notes: FieldNote[]): void {
  for (const path of OTHER_MODELS) if (path in body) notes.push({ path, action: "dropped", reason: ONE_MODEL });
}
