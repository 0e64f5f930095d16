/** Matches every kind of error in a filter by outcome. */
export const FAILED = "failed";

/** A client disconnect is not a failure. */
export const HAS_FAILED = "outcome NOT IN ('ok', 'client_gone')";
