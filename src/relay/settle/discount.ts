import type { Principal } from "../../access/principal.ts";
import { discounted } from "../../catalogue/discounted.ts";
import type { Model, Offer } from "../../catalogue/model.ts";
import type { Target } from "../../routing/target.ts";

type Discounted = Pick<Principal, "discounts">;

/** What the caller's project pays less at this target, in basis points. */
export const discountAt = ({ discounts }: Discounted, { model, offer }: Pick<Target, "model" | "offer">): number =>
  discounts === undefined ? 0 : discounts.of(model.id, offer.provider);

/** An offer that a call may be served by, as far as its discount goes. */
interface Served {
  readonly model: Pick<Model, "id">;
  readonly offers: readonly Pick<Offer, "provider">[];
}

/**
 * The most that a call may cost after its discount. Whichever offer answers: the least of their discounts counts, so that no less
 * is reserved than will be billed (H23).
 */
export function mostAfterDiscount(
  costNanoUsd: number,
  { discounts }: Discounted,
  ...served: readonly Served[]
): number {
  if (discounts === undefined) return costNanoUsd;
  const all = served.flatMap(({ model, offers }) => offers.map(({ provider }) => discounts.of(model.id, provider)));
  return discounted(costNanoUsd, all.length === 0 ? 0 : Math.min(...all));
}
