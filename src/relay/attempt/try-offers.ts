import { asGatewayError, type ErrorKind, GatewayError } from "../../canon/error.ts";
import type { Offer } from "../../catalogue/model.ts";
import { DEFAULT_ROUTING } from "../../routing/call-routing.ts";
import type { Target } from "../../routing/target.ts";
import { type AttemptRecord, ClientDisconnectedError, deadlinePassed, EndedError } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { MemoryExhaustedError } from "../request/memory-budget.ts";
import type { AttemptedCall, OfferAttempt } from "./attempted-call.ts";
import { observeAttempt } from "./observe-attempt.ts";
import { PlanSlots } from "./plan-slots.ts";
import { withOwnId } from "./with-own-id.ts";

/**
 * The approximate pause before a second attempt at an offer, unless the provider asks for a longer one (H19). It doubles with each
 * pause.
 */
const FIRST_PAUSE_MS = 200;
/** The longest pause for one offer. Beyond it the next offer is tried, or the client gets the provider's Retry-After. */
const MAX_PAUSE_MS = 2_000;

/**
 * Tries the plan's offers in order until `use` succeeds with one. The error table decides whether another is tried, unless
 * `mayRepeat` knows that a retry would do the work twice. Secrets of the provider are removed from every error thrown here (S10).
 */
export async function tryOffers<
  Planned extends Target,
  Made extends AttemptRecord,
  Attempt extends OfferAttempt & Made,
  T,
>(
  call: AttemptedCall<Made>,
  gateway: Gateway,
  plan: readonly Planned[],
  begin: (target: Planned) => Attempt,
  use: (attempt: Attempt) => Promise<T>,
  mayRepeat?: (error: GatewayError) => boolean,
): Promise<T> {
  const { maxAttempts, deadlineMs } = call.routing ?? DEFAULT_ROUTING;
  const untilMs = (call.startedAtMs ?? 0) + (deadlineMs ?? Number.POSITIVE_INFINITY);
  let last: GatewayError | undefined;
  let pauses = 0;
  // A call may hold the slot that a check of it would wait for.
  const isQueued = gateway.snapshot.routing.limitsRequests && call.incoming?.cause?.kind !== "check";
  const slots = isQueued ? new PlanSlots(call, gateway, plan) : undefined;
  /** The offer that failed last through its host's fault, or that a limit does not allow: the same holds for its other credentials. */
  let failed: Offer | undefined;
  /** Why a limit did not allow the first offer that was left out. */
  let refusal: GatewayError | undefined;
  for (const planned of plan) {
    if (slots === undefined && planned.offer === failed) continue;
    let target: Planned | undefined;
    for (let tries = 1; tries <= 2; tries++) {
      if (call.client.disconnected) throw new ClientDisconnectedError();
      if (call.client.stopped !== undefined) throw call.client.stopped;
      if (deadlineMs !== undefined && gateway.clock.nowMs() >= untilMs) throw deadlinePassed(deadlineMs);
      target = slots === undefined ? planned : await slots.take(target, untilMs - gateway.clock.nowMs(), last);
      if (target === undefined) break;
      const began = call.admission?.begin(target);
      const refused = began instanceof Promise ? await began : began;
      if (refused !== undefined) {
        refusal ??= refused;
        failed = target.offer;
        slots?.giveUp(target);
        break;
      }
      const attempt = slots === undefined ? begin(target) : slots.begin(target, begin);
      call.attempt = attempt;
      if (attempt.isKept !== true) gateway.health.begin(target, attempt);
      try {
        const result = await use(attempt);
        call.timer?.to("gateway");
        slots?.freeAfter(attempt, target);
        observeAttempt(call, gateway, target, attempt, "answered");
        return result;
      } catch (thrown) {
        call.timer?.to("gateway");
        attempt.close();
        slots?.freeAfter(attempt, target);
        // An offer that fails on its own after a disconnect has failed.
        const ownFailure = thrown instanceof GatewayError && !(thrown instanceof ClientDisconnectedError);
        if (call.client.disconnected && !ownFailure) {
          observeAttempt(call, gateway, target, attempt, "abandoned");
          throw new ClientDisconnectedError();
        }
        if (thrown instanceof EndedError) {
          observeAttempt(call, gateway, target, attempt, "abandoned", thrown);
          throw thrown;
        }
        const error = asGatewayError(thrown);
        const shown = call.cache === undefined ? error : withOwnId(error, call.cache.ids);
        last = target.provider.redactError(shown, target.offer.upstreamModel);
        observeAttempt(call, gateway, target, attempt, "failed", last);
        logFailure(gateway, target, last);
        if (call.offersTried.length >= maxAttempts || !mayTryAgain(last, gateway) || mayRepeat?.(last) === false)
          throw last;
        if (!isOfCredential(last)) {
          failed = target.offer;
          slots?.skip(failed);
        }
        if (tries === 2 || !last.rule.retrySameOffer) break;
        const pauseMs = attempt.retryAtOnce ? 0 : pauseBefore(pauses++, last, gateway);
        if (pauseMs > MAX_PAUSE_MS || gateway.clock.nowMs() + pauseMs >= untilMs) break;
        if (pauseMs === 0) continue;
        call.timer?.to("backoff");
        await Promise.race([gateway.clock.sleep(pauseMs), call.client.disconnection]);
        call.timer?.to("gateway");
      }
    }
  }
  throw last ?? refusal ?? new GatewayError("internal", "The plan has no offer.");
}

/**
 * Half of the pause is random, so that calls which failed together are not retried together. A pause that the provider asks for is
 * waited out in full.
 */
function pauseBefore(pauses: number, { retryAfterSeconds = 0 }: GatewayError, { random }: Gateway): number {
  const usualMs = Math.min(FIRST_PAUSE_MS * 2 ** pauses, MAX_PAUSE_MS);
  const chance = (random.bytes(1)[0] ?? 0) / 0xff;
  return Math.max(Math.round(usualMs * (0.5 + chance / 2)), retryAfterSeconds * 1000);
}

function logFailure({ log }: Gateway, { offer: { provider } }: Target, { kind, cause, failure }: GatewayError): void {
  // At debug only, since a provider's message may quote the prompt.
  log.debug({ kind, ...failure }, "provider failed");
  if (kind === "internal") log.error({ err: cause, provider }, "internal error in an attempt");
}

/** The credential was rejected or has reached its limit. The provider's other credentials may serve the call (choices 8). */
const isOfCredential = ({ kind }: GatewayError): boolean => OF_CREDENTIAL.has(kind);
const OF_CREDENTIAL: ReadonlySet<ErrorKind> = new Set(["upstream_credentials", "upstream_unfunded", "rate_limited"]);

/** Whether another attempt may succeed. One that reported usage did the work and is billed. */
export const mayTryAgain = (error: GatewayError, { closing }: Gateway): boolean =>
  error.rule.tryNextOffer && error.failure?.usage === undefined && !(error instanceof MemoryExhaustedError) && !closing;
