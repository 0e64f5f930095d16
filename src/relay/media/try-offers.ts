import { asGatewayError, GatewayError } from "../../canon/error.ts";
import { type Call, ClientGoneError, type ClientPresence } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import type { MediaOffer } from "./plan.ts";

const SECOND_TRY_MS = 200;

/** What trying needs to know of a call. */
export interface MediaTrying extends Pick<Call, "offersTried"> {
  client: Pick<ClientPresence, "gone" | "left">;
}

/** Tries the offers in order until `use` is content with one; the error table decides who is next. */
export async function tryMediaOffers<Wire, T>(
  call: MediaTrying,
  gateway: Gateway,
  plan: readonly MediaOffer<Wire>[],
  use: (planned: MediaOffer<Wire>) => Promise<T>,
  mayRepeat: (error: GatewayError) => boolean = () => true,
): Promise<{ result: T; planned: MediaOffer<Wire> }> {
  let last: GatewayError | undefined;
  for (const planned of plan) {
    const { provider } = planned.offer;
    for (let tries = 1; tries <= 2; tries++) {
      if (call.client.gone) throw new ClientGoneError();
      const startedAtMs = gateway.nowMs();
      const ms = () => Math.round(gateway.nowMs() - startedAtMs);
      try {
        const result = await use(planned);
        call.offersTried.push({ provider, outcome: "answered", ms: ms() });
        return { result, planned };
      } catch (thrown) {
        if (call.client.gone) {
          call.offersTried.push({ provider, outcome: "abandoned", ms: ms() });
          throw new ClientGoneError();
        }
        const error = asGatewayError(thrown);
        last = error.withMessage(planned.provider.redact(error.message));
        call.offersTried.push({ provider, outcome: "failed", reason: last.kind, ms: ms() });
        if (last.kind === "internal")
          gateway.log.error({ err: last.cause, provider }, "an attempt failed inside the gateway");
        if (!last.rule.tryNextOffer || !mayRepeat(error)) throw last;
        if (tries === 2 || !last.rule.retrySameOffer) break;
        await Promise.race([Bun.sleep(SECOND_TRY_MS), call.client.left]);
      }
    }
  }
  throw last ?? new GatewayError("internal", "The plan held no offer.");
}
