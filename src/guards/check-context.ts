import type { GuardTally } from "./guard-tally.ts";

/** One direction of one call, as the guards see it. */
export interface CheckContext {
  readonly tally: GuardTally;
  readonly nowMs: () => number;
  /** The call, for what is asked outside of the gateway. */
  readonly asker: unknown;
}
