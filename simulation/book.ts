import type { CallPlan, Fault } from "./scenario.ts";
import type { SpokenUsage } from "./speech.ts";

/** One request of a call as its provider saw it. */
export interface ServedAttempt {
  readonly provider: string;
  readonly atMs: number;
  readonly fault: Fault | undefined;
  readonly status: number | undefined;
  readonly stream: boolean;
  /** Whether it must continue a response that broke off. */
  readonly isContinuation: boolean;
  /** Index of its first word. */
  readonly from: number;
  /** The text before that word. */
  readonly lead: string;
  /** `whole`: everything was sent. */
  outcome: "open" | "whole" | "failed" | "given up";
  /** It has sent some content. */
  begun: boolean;
  /** It has sent all content and the stop reason. */
  finished: boolean;
  usageSent: boolean;
  /** Undefined if the provider reported no usage, or an impossible one. */
  readonly usage: SpokenUsage | undefined;
}

/**
 * How a call ended for its client. `whole`: with the one proper end of its protocol. `failed`: with an error in its
 * protocol, as the response or inside it. `cut`: the gateway was killed or closed the connection. `left`: the client
 * disconnected.
 */
export type ClientEnding = "whole" | "failed" | "cut" | "left";

/** Everything the simulation knows about one call. */
export interface CallBook {
  readonly plan: CallPlan;
  /** The process that received it. */
  readonly process: number;
  readonly sentAtMs: number;
  /** The random part of its request id, which follows the time. */
  requestEnd: string;
  readonly attempts: ServedAttempt[];
  ending: ClientEnding | undefined;
  endedAtMs: number;
  status: number;
  receiptId: string | undefined;
  /** What the client has read of its response. */
  text: string;
  toolArguments: string | undefined;
  isSettled: boolean;
  /** The limit of concurrent provider requests was reached while it ran, so it may have been refused. */
  wasCrowded: boolean;
}
