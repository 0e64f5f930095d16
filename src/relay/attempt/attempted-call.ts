import type { Principal } from "../../access/principal.ts";
import type { CallRouting } from "../../routing/call-routing.ts";
import type { Timed } from "../../routing/health/health.ts";
import type { AttemptRecord, Call, ClientPresence } from "../call.ts";
import type { CallTimer } from "../settle/call-timer.ts";

/** What an outcome is recorded for. */
export interface ObservedCall extends Pick<Call, "offersTried"> {
  readonly conversation?: Call["conversation"];
  readonly trace?: Call["trace"];
}

/** What trying needs to know of a call. */
export interface AttemptedCall<Made extends AttemptRecord = AttemptRecord> extends ObservedCall {
  readonly startedAtMs?: number;
  /** Absent where the phases of the call are not those of this try: of a job, or of two offers at once. */
  readonly timer?: CallTimer | undefined;
  /** Whose call it is. */
  readonly principal?: Pick<Principal, "keyId">;
  /** Absent where neither attempts nor time are limited by the caller. */
  readonly routing?: Pick<CallRouting, "maxAttempts" | "deadlineMs">;
  attempt: Made | undefined;
  client: Pick<ClientPresence, "disconnected" | "disconnection">;
}

/** One try of one target. */
export interface OfferAttempt extends AttemptRecord {
  readonly msSoFar: number;
  /** A second try of the same offer need not wait. */
  readonly retryAtOnce?: boolean;
  /** What the time until it is answered says of its target; undefined where that is nothing. */
  readonly timed?: Timed | undefined;
  close(): void;
  /** Where it goes on after its first content: runs this at its end, at once where it has ended. */
  whenEnded?(run: () => void): void;
}
