/** Providers' names for their standard terms. */
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

/** A provider's name is shown and looked up only if it has this form. */
const WORD = /^[a-z0-9][a-z0-9_-]{0,39}$/;
const PREFIX = /^on_demand_/;

/** The term for prompts beyond a model's default context. */
export const LONG_CONTEXT = "long-context";
/** The longest prompt that a model accepts on that term. */
export const LONG_CONTEXT_TOKENS = 1_000_000;
/** The term of requests that a provider's batch API runs. */
export const BATCH = "batch";
/** The same word in a request or a response that no batch API runs: nobody is known to sell it. */
const BATCH_TIER = "batch-tier";

/**
 * Names the non-standard term on which a call was requested or served, and which changes its price: `priority`, `flex`, `fast`, `geo-us`.
 * Undefined for standard terms.
 */
export function termOf(word: unknown, region?: "geo"): string | undefined {
  if (typeof word !== "string") return undefined;
  const term = word.toLowerCase().replace(PREFIX, "");
  if (ORDINARY.has(term)) return undefined;
  const shown = term === BATCH ? BATCH_TIER : WORD.test(term) ? term : "other";
  return region === undefined ? shown : `${region}-${shown}`;
}

/** The terms of a call: first as requested, then as served. */
export interface ServedOn {
  /** Empty for standard terms. */
  terms: readonly string[];
  /** The host's name of the model that answered, if the answer has one. */
  answeredAs?: string | undefined;
}

/** Takes the name of the model from an answer. */
export function reportModel(served: ServedOn | undefined, name: unknown): void {
  if (served !== undefined && typeof name === "string" && name !== "") served.answeredAs = name;
}

/** Terms that providers need not report in their responses. */
const isUnspoken = (term: string): boolean => term === LONG_CONTEXT || term === BATCH || term.startsWith("cache-");

/**
 * Replaces the requested terms with those that the response reports. Without a report nothing changes. No provider reports a long context
 * or a cache lifetime, and some do not report a batch.
 */
export function reportTerms(served: ServedOn | undefined, word: unknown, second?: unknown, geo?: unknown): void {
  if (served === undefined) return;
  if (typeof word !== "string" && typeof second !== "string" && typeof geo !== "string") return;
  if (served.terms.length > 0) served.terms = served.terms.filter(isUnspoken);
  addTerm(served, termOf(word));
  addTerm(served, termOf(second));
  addTerm(served, termOf(geo, "geo"));
}

/** A provider may report the same term in two fields. */
function addTerm(served: ServedOn, term: string | undefined): void {
  const isKnown = term === undefined || served.terms.includes(term === BATCH_TIER ? BATCH : term);
  if (!isKnown) served.terms = [...served.terms, term];
}
