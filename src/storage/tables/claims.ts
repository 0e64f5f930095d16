/** Whose name a claim has: the id of an instance. Earlier versions wrote names that no instance has. */
const BY_INSTANCE = "LIKE 'instance_%'";

/**
 * Whether a claim on work is free: its lease has ended, or its owner is not registered any more. An instance is removed when it
 * stops and when it is known to have died, so both hand over their work in the same way, and at once.
 *
 * Lease times are those of the clock that all processes of a storage agree on (decision 0077). The parameter is a time before
 * which the lease must have ended: see `ExpiredClaims`.
 */
export const isFree = (table: string): string => `(${table}.lease_until_ms < ? OR ${isAbandoned(table)})`;

/** Its owner is not registered any more. */
export const isAbandoned = (table: string): string =>
  `(${table}.lease_owner ${BY_INSTANCE} AND NOT EXISTS (SELECT 1 FROM instances WHERE instances.id = ${table}.lease_owner))`;

/** No process writes a time that work waits for so far ahead: it comes from a clock that was ahead and has been set back (H30). */
export const FAR_MS = 3_600_000;
