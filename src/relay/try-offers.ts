import { asGatewayError, GatewayError } from "../canon/error.ts";
import type { OfferTried } from "../canon/receipt.ts";
import { type AttemptRecord, type Call, ClientGoneError, type ClientPresence } from "./call.ts";
import type { Gateway } from "./gateway.ts";
import { MemoryExhaustedError } from "./memory-budget.ts";

/** The pause before an offer is tried a second time, unless the provider asks for a longer one (H19). */
const SECOND_TRY_MS = 200;
/** A call is not held longer than this for the sake of one offer: the next is tried, or the client told when to come again. */
const MAX_PAUSE_MS = 2_000;

/** What trying needs to know of a call. */
export interface Trying<Made extends AttemptRecord = AttemptRecord> extends Pick<Call, "offersTried"> {
  attempt: Made | undefined;
  client: Pick<ClientPresence, "gone" | "left">;
}

/** One try of one target. */
export interface Try extends AttemptRecord {
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
export async function tryOffers<Target extends Triable, Made extends AttemptRecord, Attempt extends Try & Made, T>(
  call: Trying<Made>,
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
      call.attempt = attempt;
      try {
        const result = await use(attempt);
        observe(call, target, attempt, "answered");
        return result;
      } catch (thrown) {
        attempt.close();
        // An offer that fails by itself, while it goes on for a client that has left, has failed.
        const itsOwn = thrown instanceof GatewayError && !(thrown instanceof ClientGoneError);
        if (call.client.gone && !itsOwn) {
          observe(call, target, attempt, "abandoned");
          throw new ClientGoneError();
        }
        last = target.provider.redactError(asGatewayError(thrown));
        observe(call, target, attempt, "failed", last);
        logFailure(gateway, target, last);
        if (!mayTryAgain(last, gateway) || mayRepeat?.(last) === false) throw last;
        if (tries === 2 || !last.rule.retrySameOffer) break;
        const pauseMs = attempt.retryAtOnce ? 0 : Math.max(SECOND_TRY_MS, (last.retryAfterSeconds ?? 0) * 1000);
        if (pauseMs > MAX_PAUSE_MS) break;
        if (pauseMs > 0) await Promise.race([gateway.clock.sleep(pauseMs), call.client.left]);
      }
    }
  }
  throw last ?? new GatewayError("internal", "The plan held no offer.");
}

/** Every outcome of an attempt comes by here, and nowhere else. */
function observe(
  { offersTried }: Pick<Trying, "offersTried">,
  { offer: { provider } }: Triable,
  { msSoFar: ms }: Try,
  outcome: OfferTried["outcome"],
  error?: GatewayError,
): void {
  if (error === undefined) offersTried.push({ provider, outcome, ms });
  else if (error.failure === undefined) offersTried.push({ provider, outcome, reason: error.kind, ms });
  else offersTried.push({ provider, outcome, reason: error.kind, ms, failure: error.failure });
}

function logFailure({ log }: Gateway, { offer: { provider } }: Triable, { kind, cause, failure }: GatewayError): void {
  // At debug alone, since a provider's words may quote the prompt.
  log.debug({ kind, ...failure }, "provider failed");
  if (kind === "internal") log.error({ err: cause, provider }, "internal error in an attempt");
}

const mayTryAgain = (error: GatewayError, { closing }: Gateway): boolean =>
  error.rule.tryNextOffer && !(error instanceof MemoryExhaustedError) && !closing;
