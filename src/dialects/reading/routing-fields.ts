import type { JsonObject } from "../../base/json.ts";
import type { FieldNote } from "../../canon/receipt.ts";

/** Whichever model answered, the scopes and the price would be those of the model that was asked for (S07). */
export const ONE_MODEL = "the model that was asked for answers, and no other";

/** By these a caller names further models, which a host that is itself a gateway might call; a preset of its account also has tools. */
const OTHER_MODELS = ["models", "fallbacks", "preset"] as const;

/**
 * What no upstream is sent: that by which a caller speaks to the gateway (contract 2.12, choices 8; read-routing.ts reads it),
 * and what names other models.
 */
export const ROUTING_FIELDS = ["provider", "model_routing_config", "trivium", ...OTHER_MODELS] as const;

export function noteOtherModels(body: JsonObject, notes: FieldNote[]): void {
  for (const path of OTHER_MODELS) if (path in body) notes.push({ path, action: "dropped", reason: ONE_MODEL });
}
