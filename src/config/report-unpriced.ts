import type { MapNode, Report } from "./document-node.ts";
import { positionAt } from "./position-at.ts";
import type { ModelFile } from "./schema.ts";

/** The prices that are known without the file. */
export interface KnownPrices {
  has(id: string): boolean;
  /** The id that a misspelt one most likely meant. */
  near(id: string): string | undefined;
}

/** Models whose calls cost nothing because no price is given. `pricings: {}` says that this is intended. */
export function reportUnpriced(models: readonly ModelFile[], known: KnownPrices, root: MapNode, report: Report): void {
  for (const [index, { id, pricings, offers }] of models.entries()) {
    const isPriced = pricings !== undefined || offers?.every((offer) => offer.pricings !== undefined) === true;
    if (isPriced || known.has(id)) continue;
    const near = known.near(id);
    const right = "set its pricings, or write pricings: {} if it is free";
    const advice = near === undefined ? right : `did you mean ${near}? Otherwise ${right}`;
    const message = `models[${index}] has no price, so its calls cost 0 and do not count against budgets; ${advice}`;
    report(positionAt(root, ["models", index, "id"]), message);
  }
}
