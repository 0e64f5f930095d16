/** Why a response ended: a unified reason, and the upstream's own. */
export type UnifiedStop = "stop" | "length" | "tool" | "filter" | "pause" | "other";

export interface Stop {
  unified: UnifiedStop;
  raw: string;
}

const CUTS: ReadonlySet<UnifiedStop> = new Set(["length", "filter"]);

/** Whether the stop reason shows that the end of the answer is missing. */
export const isCut = ({ unified }: Stop): boolean => CUTS.has(unified);
