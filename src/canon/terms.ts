/** Hosts' words for the standard terms. */
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
const PREFIX = /^on_demand_/;

/** The term for prompts beyond what a model takes without being asked for more. */
export const LONG_CONTEXT = "long-context";
/** The longest prompt that a model accepts on that term. */
export const LONG_CONTEXT_TOKENS = 1_000_000;

/**
 * A word by which a call was bought or served on other terms than the ordinary, and so at another price: `priority`, `flex`,
 * `fast`, `geo-us`. Undefined for the ordinary ones.
 */
export function termOf(word: unknown, region?: "geo"): string | undefined {
  if (typeof word !== "string") return undefined;
  const term = word.toLowerCase().replace(PREFIX, "");
  if (ORDINARY.has(term)) return undefined;
  const shown = WORD.test(term) ? term : "other";
  return region === undefined ? shown : `${region}-${shown}`;
}

/** What was asked for on some terms, and is served on others. */
export interface ServedOn {
  /** None where they are the ordinary ones. */
  terms: readonly string[];
}

/** Terms of which no host speaks in its answers. */
const isUnspoken = (term: string): boolean => term === LONG_CONTEXT || term.startsWith("cache-");

/**
 * The terms on which an answer was served, by these words of it, hold instead of those that were asked for; where it has none
 * of them, nothing changes. No host speaks of a long context, or of how long it caches.
 */
export function reportTerms(served: ServedOn | undefined, word: unknown, second?: unknown, geo?: unknown): void {
  if (served === undefined) return;
  if (typeof word !== "string" && typeof second !== "string" && typeof geo !== "string") return;
  if (served.terms.length > 0) served.terms = served.terms.filter(isUnspoken);
  addTerm(served, termOf(word));
  addTerm(served, termOf(second));
  addTerm(served, termOf(geo, "geo"));
}

/** Hosts may have two fields that name the same term. */
function addTerm(served: ServedOn, term: string | undefined): void {
  if (term !== undefined && !served.terms.includes(term)) served.terms = [...served.terms, term];
}
