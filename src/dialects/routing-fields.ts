import type { JsonObject } from "../canon/json.ts";
import type { FieldNote } from "../canon/receipt.ts";

/** Contract 2.12: by these a caller speaks to the gateway about routing. No upstream knows them. */
export const ROUTING_FIELDS = ["provider", "model_routing_config"] as const;

/** The same for callers whose protocol's clients cannot add fields (decisions §6). */
export const ROUTING_HEADER = "x-trivium-routing";

const REASON = "offers are tried in the catalogue's order";

export const ROUTING_HEADER_NOTE: FieldNote = { path: ROUTING_HEADER, action: "dropped", reason: REASON };

/** Offers are tried in the catalogue's order for now: a wish for another one is told, not lost. */
export function noteRouting(body: JsonObject, notes: FieldNote[]): void {
  for (const path of ROUTING_FIELDS) {
    if (!(path in body)) continue;
    notes.push({ path, action: "dropped", reason: REASON });
  }
}
