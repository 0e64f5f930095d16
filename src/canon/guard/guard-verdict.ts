export const GUARD_DIRECTIONS = ["request", "response"] as const;
export type GuardOn = (typeof GUARD_DIRECTIONS)[number];

export const GUARD_VERDICTS = ["passed", "observed", "unreadable", "redacted", "blocked", "not_run"] as const;

/** What one guard found in a request or a response. */
export interface GuardVerdict {
  name: string;
  on: GuardOn;
  verdict: (typeof GUARD_VERDICTS)[number];
  /** How many matches or texts it found. Absent if none. */
  count?: number;
  /** Where it found something, in the client's body. Absent if nothing was found, or if only the whole is known. */
  paths?: readonly string[];
  /** Why it decided so, or did not run. */
  reason?: string;
  /** How long it took. */
  ms: number;
}
