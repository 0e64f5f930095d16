import type { Principal } from "../../access/principal.ts";
import { discounted } from "../../catalogue/discounted.ts";
import type { Model, Offer } from "../../catalogue/model.ts";
import type { Target } from "../../routing/target.ts";

type Discounted = Pick<Principal, "discounts">;

/** The discount of the caller's project at this target, in basis points. */
export const discountAt = ({ discounts }: Discounted, { model, offer }: Pick<Target, "model" | "offer">): number =>
  discounts === undefined ? 0 : discounts.of(model.id, offer.provider);

/** The offers that may serve a call. */
interface Served {
  readonly model: Pick<Model, "id">;
  readonly offers: readonly Pick<Offer, "provider">[];
}

/**
 * The highest cost of a call after its discount. The smallest discount counts, because any offer may answer, and no less may be
 * reserved than is billed (H23).
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
