import { asGatewayError, GatewayError } from "../canon/error.ts";
import type { OfferTried } from "../canon/receipt.ts";
import { type AttemptRecord, type Call, ClientDisconnectedError, type ClientPresence } from "./call.ts";
import type { Gateway } from "./gateway.ts";
import { MemoryExhaustedError } from "./memory-budget.ts";

/** The pause before an offer is tried a second time, unless the provider asks for a longer one (H19). */
const SECOND_TRY_MS = 200;
/** The longest pause for one offer: beyond it the next is tried, or the client is given the provider's Retry-After. */
const MAX_PAUSE_MS = 2_000;

/** What trying needs to know of a call. */
export interface Trying<Made extends AttemptRecord = AttemptRecord> extends Pick<Call, "offersTried"> {
  attempt: Made | undefined;
  client: Pick<ClientPresence, "disconnected" | "disconnection">;
}

/** One try of one target. */
export interface Try extends AttemptRecord {
  readonly msSoFar: number;
  /** A second try of the same offer need not wait. */
  readonly retryAtOnce?: boolean;
  close(): void;
}

/** What trying needs to know of a target. */
interface Triable {
  offer: { provider: string };
  provider: { redactError(error: GatewayError): GatewayError };
}

/**
 * Tries the plan's offers in order until `use` succeeds with one. The error table decides whether another is tried, unless
 * `mayRepeat` knows that asking again would do the same thing twice. Every failure that is thrown from here has the secrets of
 * its provider removed (S10).
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
      if (call.client.disconnected) throw new ClientDisconnectedError();
      const attempt = begin(target);
      call.attempt = attempt;
      try {
        const result = await use(attempt);
        observe(call, target, attempt, "answered");
        return result;
      } catch (thrown) {
        attempt.close();
        // An offer that is read on after a disconnect and fails by itself has failed.
        const ownFailure = thrown instanceof GatewayError && !(thrown instanceof ClientDisconnectedError);
        if (call.client.disconnected && !ownFailure) {
          observe(call, target, attempt, "abandoned");
          throw new ClientDisconnectedError();
        }
        last = target.provider.redactError(asGatewayError(thrown));
        observe(call, target, attempt, "failed", last);
        logFailure(gateway, target, last);
        if (!mayTryAgain(last, gateway) || mayRepeat?.(last) === false) throw last;
        if (tries === 2 || !last.rule.retrySameOffer) break;
        const pauseMs = attempt.retryAtOnce ? 0 : Math.max(SECOND_TRY_MS, (last.retryAfterSeconds ?? 0) * 1000);
        if (pauseMs > MAX_PAUSE_MS) break;
        if (pauseMs > 0) await Promise.race([gateway.clock.sleep(pauseMs), call.client.disconnection]);
      }
    }
  }
  throw last ?? new GatewayError("internal", "The plan has no offer.");
}

/** Every outcome of an attempt is recorded here, and nowhere else. */
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
  // At debug only, since a provider's message may quote the prompt.
  log.debug({ kind, ...failure }, "provider failed");
  if (kind === "internal") log.error({ err: cause, provider }, "internal error in an attempt");
}

const mayTryAgain = (error: GatewayError, { closing }: Gateway): boolean =>
  error.rule.tryNextOffer && !(error instanceof MemoryExhaustedError) && !closing;
