import type { ServedOn } from "../../../canon/terms.ts";

/** This protocol's names for non-standard terms. Providers of other protocols have more. */
const TIERS: ReadonlySet<string> = new Set(["flex", "scale", "priority", "fast"]);

/** A response names the tier that served it, whichever was requested. */
export const encodeTier = (served: ServedOn | undefined): string =>
  served?.terms.find((term) => TIERS.has(term)) ?? "default";
