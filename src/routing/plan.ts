import type { DialectName, UpstreamDialectName } from "../canon/dialect-name.ts";
import { GatewayError } from "../canon/error.ts";
import type { Model, Offer } from "../catalogue/model.ts";

/** What planning needs to know of a provider. */
export interface Speaker {
  /** The dialects in which it serves a model of that name, the best first. */
  dialectsFor(upstreamModel: string): readonly UpstreamDialectName[];
}

export interface PlannedOffer<P extends Speaker> {
  offer: Offer;
  provider: P;
  /** The dialect in which the provider is called: the client's own wherever it speaks it. */
  dialect: UpstreamDialectName;
}

/** The offers to try for one call, in the catalogue's order. */
export function makePlan<P extends Speaker>(
  model: Model,
  offers: readonly Offer[],
  providers: ReadonlyMap<string, P>,
  dialect: DialectName,
): PlannedOffer<P>[] {
  const plan: PlannedOffer<P>[] = [];
  for (const offer of offers) {
    const provider = providers.get(offer.provider);
    if (provider === undefined) continue;
    const pinned = offer.dialect;
    const spoken = provider.dialectsFor(offer.upstreamModel).filter((name) => pinned === undefined || name === pinned);
    const chosen = spoken.find((name) => name === dialect) ?? spoken[0];
    if (chosen !== undefined) plan.push({ offer, provider, dialect: chosen });
  }
  if (plan.length === 0) {
    const names = offers.map((offer) => offer.provider).join(", ");
    throw new GatewayError(
      "not_found",
      `None of the providers of ${model.id} (${names}) serves it as it is configured.`,
      {
        path: "model",
      },
    );
  }
  return plan;
}
