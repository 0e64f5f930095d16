import type { GatewayError } from "../../canon/error.ts";
import type { MediaTarget } from "../../routing/target.ts";
import type { Gateway } from "../gateway.ts";
import { type Try, type Trying, tryOffers } from "../try-offers.ts";

interface MediaTry<Adapter> extends Try {
  target: MediaTarget<Adapter>;
}

/** Tries the offers in order. */
export function tryMediaOffers<Adapter, T>(
  call: Trying,
  gateway: Gateway,
  plan: readonly MediaTarget<Adapter>[],
  use: (target: MediaTarget<Adapter>) => Promise<T>,
  mayRepeat?: (error: GatewayError) => boolean,
): Promise<{ result: T; target: MediaTarget<Adapter> }> {
  const begin = (target: MediaTarget<Adapter>): MediaTry<Adapter> => {
    const startedAtMs = gateway.clock.nowMs();
    call.asked = { target, lane: "translated" };
    return {
      target,
      get msSoFar() {
        return Math.round(gateway.clock.nowMs() - startedAtMs);
      },
      close: () => {},
    };
  };
  const run = async ({ target }: MediaTry<Adapter>) => ({ result: await use(target), target });
  return tryOffers(call, gateway, plan, begin, run, mayRepeat);
}
