import { EXCEPTIONS } from "./exceptions.ts";
import { type Facts, type Kind, keyOf, type PlacedFact } from "./fact.ts";
import type { Language } from "./source-names.ts";

interface Exception {
  readonly key: string;
  readonly reason: string;
  readonly only: Language | undefined;
}

/** One by one. */
export const LISTED_EXCEPTIONS: readonly Exception[] = EXCEPTIONS.flatMap(({ vendor, protocol, reason, only, names }) =>
  (Object.entries(names) as [Kind, readonly string[]][]).flatMap(([kind, list]) =>
    list.map((name) => ({ key: keyOf({ vendor, protocol, kind, name }), reason, only })),
  ),
);
const REASONS: ReadonlyMap<string, string> = new Map(LISTED_EXCEPTIONS.map(({ key, reason }) => [key, reason]));

interface Explained {
  /** Unknown, without a reason: news. */
  readonly open: readonly PlacedFact[];
  /** Unknown, by the reason for which that is accepted. */
  readonly accepted: ReadonlyMap<string, readonly PlacedFact[]>;
  /** The keys of exceptions for names that are known by now, or that no SDK declares any more. */
  readonly stale: readonly string[];
}

/** Compares what the gateway does not know of these SDKs with the exceptions. */
export function explain(facts: Facts, languages: readonly Language[]): Explained {
  const open: PlacedFact[] = [];
  const accepted = new Map<string, PlacedFact[]>();
  const unknown = [...facts].filter(({ known }) => !known);
  for (const fact of unknown) {
    const reason = REASONS.get(keyOf(fact));
    if (reason === undefined) open.push(fact);
    else accepted.set(reason, [...(accepted.get(reason) ?? []), fact]);
  }
  const keys = new Set(unknown.map(keyOf));
  const checked = LISTED_EXCEPTIONS.filter(({ only }) => only === undefined || languages.includes(only));
  return { open, accepted, stale: checked.map(({ key }) => key).filter((key) => !keys.has(key)) };
}
