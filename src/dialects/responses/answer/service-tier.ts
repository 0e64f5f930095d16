import type { ServedOn } from "../../../canon/terms.ts";

/** This protocol's words for other terms than the ordinary; hosts of other protocols know more. */
const TIERS: ReadonlySet<string> = new Set(["flex", "scale", "priority", "fast"]);

/** An answer names the tier that served it, whichever was asked for. */
export const encodeTier = (served: ServedOn | undefined): string =>
  served?.terms.find((term) => TIERS.has(term)) ?? "default";
