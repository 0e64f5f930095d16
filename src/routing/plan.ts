import type { DialectName } from "../canon/dialect-name.ts";
import { GatewayError } from "../canon/error.ts";
import type { Model, Offer } from "../catalogue/model.ts";

/** What planning needs to know of a provider. */
export interface Speaker {
  speaks(dialect: DialectName): boolean;
}

export interface PlannedOffer<P extends Speaker> {
  offer: Offer;
  provider: P;
  dialect: DialectName;
}

/** The offers to try for one call, in order: those whose provider speaks the client's dialect, as the catalogue has them. */
export function makePlan<P extends Speaker>(
  model: Model,
  offers: readonly Offer[],
  providers: ReadonlyMap<string, P>,
  dialect: DialectName,
): PlannedOffer<P>[] {
  const plan: PlannedOffer<P>[] = [];
  for (const offer of offers) {
    const provider = providers.get(offer.provider);
    const spoken = offer.dialect === undefined || offer.dialect === dialect;
    if (provider?.speaks(dialect) && spoken) plan.push({ offer, provider, dialect });
  }
  if (plan.length === 0) {
    const names = offers.map((offer) => offer.provider).join(", ");
    throw new GatewayError(
      "invalid_request",
      `The model ${model.id} is not offered in the ${dialect} protocol (by ${names}). Call it in its own protocol.`,
      { path: "model" },
    );
  }
  return plan;
}
