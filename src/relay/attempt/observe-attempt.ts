import type { GatewayError } from "../../canon/error.ts";
import type { OfferTried } from "../../canon/receipt.ts";
import type { Target } from "../../routing/target.ts";
import { ContinuationRefusedError } from "../answer/continuing-encoder.ts";
import { ClientDisconnectedError, EndedError } from "../call.ts";
import { UploadRefusedError } from "../files/upload-refused-error.ts";
import type { Gateway } from "../gateway.ts";
import { MemoryExhaustedError } from "../request/memory-budget.ts";
import type { ObservedCall, OfferAttempt } from "./attempted-call.ts";

type Observing = Pick<Gateway, "clock" | "conversations" | "health" | "closing">;

/** The only place where outcomes of attempts are recorded, for the receipt and for the health of the target. */
export function observeAttempt(
  { offersTried, conversation, trace }: ObservedCall,
  gateway: Observing,
  target: Target,
  attempt: OfferAttempt,
  outcome: OfferTried["outcome"],
  error?: GatewayError,
): void {
  const ms = attempt.msSoFar;
  const tried: OfferTried = { provider: target.offer.provider, outcome, ms };
  if (target.credential !== "") tried.credential = target.credential;
  if (attempt.files !== undefined) tried.files = attempt.files;
  if (error !== undefined) tried.reason = error.kind;
  if (error?.failure !== undefined) tried.failure = error.failure;
  offersTried.push(tried);
  attempt.tried = tried;
  trace?.attemptEnded(attempt, gateway.clock.nowMs());
  if (attempt.isKept === true) return;
  if (outcome === "answered") {
    gateway.health.answered(target, ms, attempt.timed);
    if (conversation !== undefined) gateway.conversations.remember(conversation, target.id, gateway.clock.nowMs());
  } else if (outcome === "failed" && error !== undefined) observeFailure(gateway, target, attempt, error);
  else gateway.health.abandoned(target, attempt);
}

/** A response broke off after its first content, which was recorded as answered. */
export function observeBreak(
  gateway: Pick<Gateway, "health" | "closing">,
  attempt: OfferAttempt & { readonly target: Target },
  error: GatewayError,
): void {
  const isCallers = error instanceof ClientDisconnectedError || error instanceof EndedError;
  if (!isCallers) observeFailure(gateway, attempt.target, attempt, error);
}

/** Failures for lack of the gateway's own memory or time do not count against a target, nor do stale connections. */
function observeFailure(
  { health, closing }: Pick<Gateway, "health" | "closing">,
  target: Target,
  attempt: OfferAttempt,
  error: GatewayError,
): void {
  const isOurs =
    closing ||
    attempt.retryAtOnce === true ||
    error instanceof MemoryExhaustedError ||
    error instanceof UploadRefusedError ||
    error instanceof ContinuationRefusedError;
  if (isOurs) health.abandoned(target, attempt);
  else health.failed(target, attempt, error);
}
