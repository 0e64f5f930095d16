/** Words of hosts for the terms that everybody has. */
const ORDINARY: ReadonlySet<string> = new Set([
  "",
  "auto",
  "default",
  "standard",
  "standard_only",
  "on_demand",
  "global",
  "not_available",
  "unspecified",
  "service_tier_unspecified",
  "traffic_type_unspecified",
]);

/** What is shown, and looked up, of a host's word. */
const WORD = /^[a-z0-9][a-z0-9_-]{0,39}$/;

/** The term for prompts beyond what a model takes without being asked for more. */
export const LONG_CONTEXT = "long-context";

/**
 * A word by which a call was bought or served on other terms than the ordinary, and so at another price: `priority`, `flex`,
 * `fast`, `geo-us`. Undefined for the ordinary ones.
 */
export function termOf(word: unknown, region?: "geo"): string | undefined {
  if (typeof word !== "string") return undefined;
  const term = word.toLowerCase().replace(/^on_demand_/, "");
  if (ORDINARY.has(term)) return undefined;
  const shown = WORD.test(term) ? term : "other";
  return region === undefined ? shown : `${region}-${shown}`;
}

/** Hears on which terms an answer was served, none of them where those are the ordinary ones. */
export type ServedOn = (terms: readonly string[]) => void;

/** Tells on which terms an answer was served, by these words of it; nothing where it has none of them. */
export function reportTerms(served: ServedOn | undefined, ...words: readonly [word: unknown, region?: "geo"][]): void {
  if (served === undefined || words.every(([word]) => typeof word !== "string")) return;
  served(words.flatMap(([word, region]) => termOf(word, region) ?? []));
}
