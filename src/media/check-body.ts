import type { Static, TSchema } from "typebox";
import { defineCheck, type RequestCheck } from "../dialects/reading/check.ts";
import { ROUTING_FIELDS } from "../dialects/reading/routing-fields.ts";

/** Checks the body of a media request. Throws a GatewayError for the first problem found. */
export function defineBodyCheck<S extends TSchema>(
  schema: S,
  relations: (body: Static<S>) => void,
): (body: unknown) => Static<S> {
  const check: RequestCheck<Static<S>> = defineCheck(schema, { relations, alsoRead: ROUTING_FIELDS });
  return (body) => check(body, { door: "contract", model: { id: "", reasoning: false } });
}
