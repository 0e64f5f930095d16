import type { JsonObject } from "../base/json.ts";
import type { FieldNote } from "../canon/receipt.ts";
import { termOf } from "../canon/terms.ts";
import type { Door } from "./check.ts";

/** The fields of a request by which other terms than the ordinary are bought, each with how it is read. */
export type PricedFields = Readonly<Record<string, { region?: "geo" }>>;

/** On which terms a request asks to be served. */
export function askedTerms(body: JsonObject, fields: PricedFields): readonly string[] {
  let terms: readonly string[] = ORDINARY;
  for (const field in fields) {
    const term = termOf(body[field], fields[field]?.region);
    if (term !== undefined) terms = [...terms, term];
  }
  return terms;
}

const ORDINARY: readonly string[] = [];

interface FittedTerms {
  /** What goes on, and is to be paid. */
  terms: readonly string[];
  /** Fields to take out. */
  remove: readonly string[];
}

const NO_TERMS: FittedTerms = { terms: [], remove: [] };

/**
 * What has no known price is not bought at the contract door, and the receipt says so. At the drop-in door it goes on, and
 * the price rule tells that it has no price.
 */
export function fitTerms(
  body: JsonObject,
  fields: PricedFields,
  { door, priceMultiples = {} }: { door: Door; priceMultiples?: Readonly<Record<string, number>> | undefined },
  notes: FieldNote[],
): FittedTerms {
  let fitted = NO_TERMS;
  for (const field in fields) {
    const term = termOf(body[field], fields[field]?.region);
    if (term === undefined) continue;
    if (door === "contract" && !Object.hasOwn(priceMultiples, term)) {
      notes.push({ path: field, action: "dropped", reason: `the price of ${term} is not known here` });
      fitted = { ...fitted, remove: [...fitted.remove, field] };
    } else fitted = { ...fitted, terms: [...fitted.terms, term] };
  }
  return fitted;
}
