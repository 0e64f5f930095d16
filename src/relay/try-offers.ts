import { asGatewayError, GatewayError } from "../canon/error.ts";
import type { OfferTried } from "../canon/receipt.ts";
import { type Call, ClientGoneError, type ClientPresence } from "./call.ts";
import type { Gateway } from "./gateway.ts";
import { MemoryExhaustedError } from "./memory-budget.ts";

/** The pause before an offer is tried a second time, unless the provider asks for a longer one (H19). */
const SECOND_TRY_MS = 200;
/** A call is not held longer than this for the sake of one offer: the next is tried, or the client told when to come again. */
const LONGEST_PAUSE_MS = 2_000;

/** What trying needs to know of a call. */
export interface Trying extends Pick<Call, "offersTried" | "asked"> {
  client: Pick<ClientPresence, "gone" | "left">;
}

/** One try of one offer. */
export interface Try {
  readonly msSoFar: number;
  /** Whether a second try of the same offer need not wait. */
  readonly retryAtOnce?: boolean;
  close(): void;
}

/** What trying needs to know of a target. */
interface Triable {
  offer: { provider: string };
  provider: { redactError(error: GatewayError): GatewayError };
}

/**
 * Tries the plan's offers in order until `use` is content with one; what the error table allows decides who is next, unless
 * `mayRepeat` knows that asking again would do the same thing twice. Every failure comes out of here without the secrets of
 * the provider that it is of (S10).
 */
export async function tryOffers<Target extends Triable, Attempt extends Try, T>(
  call: Trying,
  gateway: Gateway,
  plan: readonly Target[],
  begin: (target: Target) => Attempt,
  use: (attempt: Attempt) => Promise<T>,
  mayRepeat?: (error: GatewayError) => boolean,
): Promise<T> {
  let last: GatewayError | undefined;
  for (const target of plan) {
    for (let tries = 1; tries <= 2; tries++) {
      if (call.client.gone) throw new ClientGoneError();
      const attempt = begin(target);
      try {
        const result = await use(attempt);
        call.offersTried.push({ provider: target.offer.provider, outcome: "answered", ms: attempt.msSoFar });
        return result;
      } catch (thrown) {
        attempt.close();
        const { provider } = target.offer;
        // An offer that fails by itself, while it goes on for a client that has left, has failed.
        const itsOwn = thrown instanceof GatewayError && !(thrown instanceof ClientGoneError);
        if (call.client.gone && !itsOwn) {
          call.offersTried.push({ provider, outcome: "abandoned", ms: attempt.msSoFar });
          throw new ClientGoneError();
        }
        last = target.provider.redactError(asGatewayError(thrown));
        const { kind: reason, failure } = last;
        const tried: OfferTried = { provider, outcome: "failed", reason, ms: attempt.msSoFar };
        call.offersTried.push(failure === undefined ? tried : { ...tried, failure });
        // At debug alone, since a provider's words may quote the prompt.
        gateway.log.debug({ kind: reason, ...failure }, "provider failed");
        if (last.kind === "internal") gateway.log.error({ err: last.cause, provider }, "internal error in an attempt");
        if (
          last instanceof MemoryExhaustedError ||
          !last.rule.tryNextOffer ||
          mayRepeat?.(last) === false ||
          gateway.closing
        )
          throw last;
        if (tries === 2 || !last.rule.retrySameOffer) break;
        const pauseMs = attempt.retryAtOnce ? 0 : Math.max(SECOND_TRY_MS, (last.retryAfterSeconds ?? 0) * 1000);
        if (pauseMs > LONGEST_PAUSE_MS) break;
        if (pauseMs > 0) await Promise.race([gateway.clock.sleep(pauseMs), call.client.left]);
      }
    }
  }
  throw last ?? new GatewayError("internal", "The plan held no offer.");
}
