/** Stands for every kind of error, where an outcome is asked for. */
export const FAILED = "failed";

/** Whoever disconnects has not failed. */
export const HAS_FAILED = "outcome NOT IN ('ok', 'client_gone')";
