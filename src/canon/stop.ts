/**
 * Why a response ended: a unified reason, and the upstream's own. `abnormal`: the provider says that the output cannot be used as it is, for
 * instance because of a malformed call. `other`: an unknown word.
 */
export type UnifiedStop = "stop" | "length" | "tool" | "filter" | "pause" | "abnormal" | "other";

export interface Stop {
  unified: UnifiedStop;
  raw: string;
}

const CUTS: ReadonlySet<UnifiedStop> = new Set(["length", "filter"]);

/** Whether the stop reason shows that the end of the answer is missing. */
export const isCut = ({ unified }: Stop): boolean => CUTS.has(unified);
