import type { Stop, UnifiedStop } from "./stop.ts";

const CUTS: ReadonlySet<UnifiedStop> = new Set(["length", "filter"]);

/** Whether a client can tell by the stop that the last words of the answer are not whole. */
export const isCut = ({ unified }: Stop): boolean => CUTS.has(unified);
