import type { Principal } from "../../access/principal.ts";
import type { Model, Offer } from "../../catalogue/model.ts";

type Discounted = Pick<Principal, "discounts">;

interface DiscountedOffer {
  readonly model: Pick<Model, "id">;
  readonly offer: Pick<Offer, "provider">;
}

/** The discount of the caller's project at this target, in basis points. */
export const discountAt = ({ discounts }: Discounted, { model, offer }: DiscountedOffer): number =>
  discounts === undefined ? 0 : discounts.of(model.id, offer.provider);
