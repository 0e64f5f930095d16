import type { JsonObject } from "../base/json.ts";
import type { FieldNote } from "../canon/receipt.ts";

const ORDER = "offers are tried in the catalogue's order";
const NOT_BUILT = "this version has no such option";
/** Whichever model answered, the scopes and the price would be those of the model that was asked for (S07). */
export const ONE_MODEL = "the model that was asked for answers, and no other";

/**
 * By these a caller speaks to the gateway (contract 2.12, choices 8): no upstream knows them, and what cannot be done yet is
 * told, not lost. Or it names further models, which a host that is itself a gateway might call.
 */
const FIELD_REASONS = {
  provider: ORDER,
  model_routing_config: ORDER,
  trivium: NOT_BUILT,
  models: ONE_MODEL,
  fallbacks: ONE_MODEL,
} as const;

export const ROUTING_FIELDS = ["provider", "model_routing_config", "trivium", "models", "fallbacks"] as const;

/** The same for callers whose protocol's clients cannot add fields (choices 6, 8). */
const HEADER_NOTES: readonly FieldNote[] = [
  { path: "x-trivium-routing", action: "dropped", reason: ORDER },
  { path: "x-trivium-survive", action: "dropped", reason: NOT_BUILT },
  { path: "x-trivium-hedge", action: "dropped", reason: NOT_BUILT },
  { path: "x-trivium-deadline-ms", action: "dropped", reason: NOT_BUILT },
];

export function noteRouting(body: JsonObject, notes: FieldNote[]): void {
  for (const path of ROUTING_FIELDS) {
    if (path in body) notes.push({ path, action: "dropped", reason: FIELD_REASONS[path] });
  }
}

export function noteRoutingHeaders(headers: Headers, notes: FieldNote[]): void {
  for (const note of HEADER_NOTES) if (headers.has(note.path)) notes.push(note);
}
