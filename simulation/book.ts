import type { CallPlan, Fault } from "./scenario.ts";
import type { SpokenUsage } from "./speech.ts";

/** One request of a call as its provider saw it. */
export interface ServedAttempt {
  readonly provider: string;
  readonly atMs: number;
  readonly fault: Fault | undefined;
  readonly status: number | undefined;
  readonly stream: boolean;
  /** It is asked to continue an answer that broke off. */
  readonly isContinuation: boolean;
  /** The first word that it says. */
  readonly from: number;
  /** What it says before that word. */
  readonly lead: string;
  /** `whole`: everything was sent. */
  outcome: "open" | "whole" | "failed" | "given up";
  /** It has begun to say something. */
  begun: boolean;
  /** It has said everything, and why it ends. */
  finished: boolean;
  usageSent: boolean;
  /** Undefined where the provider has told none, or one that cannot be true. */
  readonly usage: SpokenUsage | undefined;
}

/**
 * How a call ended for its client. `whole`: with the one proper end of its protocol. `failed`: with an error in its protocol, in
 * the answer's place or inside it. `cut`: the gateway was killed, or has closed the connection. `left`: the client has closed it.
 */
export type ClientEnding = "whole" | "failed" | "cut" | "left";

/** Everything that the simulation knows of one call. */
export interface CallBook {
  readonly plan: CallPlan;
  /** Which process it was sent to. */
  readonly process: number;
  readonly sentAtMs: number;
  /** The random part of its request id, which the gateway puts behind the time. */
  requestEnd: string;
  readonly attempts: ServedAttempt[];
  ending: ClientEnding | undefined;
  endedAtMs: number;
  status: number;
  receiptId: string | undefined;
  /** What the client has read of its answer. */
  text: string;
  toolArguments: string | undefined;
  isSettled: boolean;
  /** There were as many requests to providers as there may be while it ran: it may have been told to come again. */
  wasCrowded: boolean;
}
