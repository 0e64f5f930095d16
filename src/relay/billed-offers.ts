import type { JsonObject } from "../base/json.ts";
import type { Billable } from "../canon/billable.ts";
import type { Model, Offer } from "../catalogue/model.ts";
import { sharesTerms } from "../dialects/shared-fields.ts";
import type { IncomingCall } from "./call.ts";
import type { BilledOffer } from "./check-billing.ts";
import type { Gateway } from "./gateway.ts";
import type { ServedModel } from "./served-model.ts";

/** Every offer that may answer a call, and what of the request its host would be sent. */
export function* billedOffers(
  { model, offers, fallback }: ServedModel,
  incoming: IncomingCall,
  body: JsonObject,
  gateway: Pick<Gateway, "snapshot">,
): Generator<BilledOffer> {
  yield* offersOf(model, offers, incoming, body, gateway);
  if (fallback !== undefined) yield* offersOf(fallback.model, fallback.offers, incoming, body, gateway);
}

function* offersOf(
  model: Model,
  offers: readonly Offer[],
  { dialect }: IncomingCall,
  body: JsonObject,
  { snapshot: { targets } }: Pick<Gateway, "snapshot">,
): Generator<BilledOffer> {
  const { hostedImages } = dialect;
  // What the gateway does in the place of a host is billed by itself.
  const played = hostedImages?.read(body)?.path;
  for (const offer of offers) {
    const hosts = targets.textOf(offer);
    const host = hosts.find(({ via }) => via === dialect.name);
    const crosses = host === undefined && hosts.some(({ via, quirks }) => sharesTerms(dialect.name, via, quirks));
    const plays = host !== undefined && hostedImages?.isNative(host.via, host.quirks) === false;
    const takes = ({ kind, path }: Billable): boolean =>
      host === undefined ? crosses && kind === "term" : !(plays && path === `${played}.type`);
    yield { model, offer, takes };
  }
}
