import { type AutoChoice, NO_PREFERENCE, type Preference } from "./preference.ts";

/** All that one call asks of routing: its own words over its key's over the operator's. */
export interface CallRouting {
  readonly preference: Preference;
  /** How `trivium/auto` is to choose. */
  readonly auto?: AutoChoice | undefined;
  /** A stream that breaks off goes on at the next offer that can continue a partial answer. */
  readonly survive: boolean;
  /** A second offer is asked where the first is slow to begin, and the first content wins. */
  readonly hedge: boolean;
  /** From the arrival of the call to the end of its answer. */
  readonly deadlineMs: number | undefined;
  /** How many requests may leave for one call. */
  readonly maxAttempts: number;
}

/** Where nobody says anything. Shared, so that an ordinary call allocates nothing for it. */
export const DEFAULT_ROUTING: CallRouting = Object.freeze({
  preference: NO_PREFERENCE,
  survive: false,
  hedge: false,
  deadlineMs: undefined,
  maxAttempts: Number.POSITIVE_INFINITY,
});
