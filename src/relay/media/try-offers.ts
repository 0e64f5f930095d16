import type { GatewayError } from "../../canon/error.ts";
import type { Gateway } from "../gateway.ts";
import { type Try, type Trying, tryOffers } from "../try-offers.ts";
import type { MediaOffer } from "./plan.ts";

interface MediaTry<Wire> extends Try {
  planned: MediaOffer<Wire>;
}

/** Offers of media tried in order. */
export function tryMediaOffers<Wire, T>(
  call: Trying,
  gateway: Gateway,
  plan: readonly MediaOffer<Wire>[],
  use: (planned: MediaOffer<Wire>) => Promise<T>,
  mayRepeat?: (error: GatewayError) => boolean,
): Promise<{ result: T; planned: MediaOffer<Wire> }> {
  const begin = (planned: MediaOffer<Wire>): MediaTry<Wire> => {
    const startedAtMs = gateway.nowMs();
    call.asked = { offer: planned.offer, dialect: "media", lane: "translated" };
    return {
      planned,
      get msSoFar() {
        return Math.round(gateway.nowMs() - startedAtMs);
      },
      close: () => {},
    };
  };
  const run = async ({ planned }: MediaTry<Wire>) => ({ result: await use(planned), planned });
  return tryOffers(call, gateway, plan, begin, run, mayRepeat);
}
