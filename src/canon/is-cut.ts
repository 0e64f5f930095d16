import type { Stop, UnifiedStop } from "./stop.ts";

const CUTS: ReadonlySet<UnifiedStop> = new Set(["length", "filter"]);

/** Whether the stop reason shows that the end of the answer is missing. */
export const isCut = ({ unified }: Stop): boolean => CUTS.has(unified);
