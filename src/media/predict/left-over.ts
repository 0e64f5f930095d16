import type { Fields } from "../../canon/fields.ts";
import type { JsonObject } from "../../canon/json.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import { noteRouting, ROUTING_FIELDS } from "../../dialects/routing-fields.ts";

/** The fields that nobody read, for providers that know them. What stands in `parameters` wins over the root. */
export function leftOver(root: Fields, instance: Fields, parameters: Fields, notes: FieldNote[]): JsonObject {
  const atRoot = root.rest() ?? {};
  noteRouting(atRoot, notes);
  const own = Object.entries(atRoot).filter(([key]) => !(ROUTING_FIELDS as readonly string[]).includes(key));
  return { ...instance.rest(), ...Object.fromEntries(own), ...parameters.rest() };
}
