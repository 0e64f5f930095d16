import type { JsonObject } from "../canon/json.ts";
import type { FieldNote } from "../canon/receipt.ts";

/** Contract 2.12: by these a caller speaks to the gateway about routing. No upstream knows them. */
export const ROUTING_FIELDS = ["provider", "model_routing_config"] as const;

/** Offers are tried in the catalogue's order for now: a wish for another one is told, not lost. */
export function noteRouting(body: JsonObject, notes: FieldNote[]): void {
  for (const path of ROUTING_FIELDS) {
    if (!(path in body)) continue;
    notes.push({ path, action: "dropped", reason: "offers are tried in the catalogue's order" });
  }
}
