import type { Reservation } from "../../access/admit.ts";
import type { Principal } from "../../access/principal.ts";
import type { OfferTried } from "../../canon/receipt.ts";
import type { CallRouting } from "../../routing/call-routing.ts";
import type { Timed } from "../../routing/health/health.ts";
import type { AttemptRecord, Call, ClientPresence, IncomingRequest, StoppedError } from "../call.ts";
import type { HeldCache } from "../request/held-cache.ts";
import type { CallTimer } from "../settle/call-timer.ts";

/** The call that an outcome is recorded for. */
export interface ObservedCall extends Pick<Call, "offersTried"> {
  readonly conversation?: Call["conversation"];
  readonly trace?: Call["trace"];
}

/** What `tryOffers` needs to know about a call. */
export interface AttemptedCall<Made extends AttemptRecord = AttemptRecord> extends ObservedCall {
  readonly startedAtMs?: number;
  /** Absent if the call's phases are not those of this attempt: for a job, or with two offers at once. */
  readonly timer?: CallTimer | undefined;
  readonly incoming?: Pick<IncomingRequest, "requestId" | "line" | "cause">;
  /** The caller's key. */
  readonly principal?: Pick<Principal, "keyId">;
  /** Absent if the caller limits neither attempts nor time. */
  readonly routing?: Pick<CallRouting, "maxAttempts" | "deadlineMs">;
  /** The cache that it reads; absent for calls that can read none. */
  readonly cache?: Pick<HeldCache, "ids"> | undefined;
  /** What is reserved for it; absent if nothing is. */
  readonly admission?: Reservation | undefined;
  attempt: Made | undefined;
  client: Pick<ClientPresence, "disconnected" | "disconnection"> & {
    /** Absent if no operator can stop the call. */
    readonly stopped?: StoppedError | undefined;
  };
}

/** One attempt at one target. */
export interface OfferAttempt extends AttemptRecord {
  readonly msSoFar: number;
  /** Its entry in the receipt, once its outcome is known. */
  tried?: OfferTried | undefined;
  /** A second attempt at the same offer need not wait. */
  readonly retryAtOnce?: boolean;
  /** Its response arrived earlier, so it says nothing about the target's health. */
  readonly isKept?: boolean;
  /** How its response time counts towards the target's health; undefined if it does not. */
  readonly timed?: Timed | undefined;
  close(): void;
  /** Runs the callback when the attempt ends, or at once if it has ended. */
  whenEnded?(run: () => void): void;
}
