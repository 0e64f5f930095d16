import { isObject, type JsonObject } from "../../base/json.ts";
import type { Billable } from "../../canon/billable.ts";
import { termOf } from "../../canon/terms.ts";

/** How to read a field that requests special terms. */
interface PricedField {
  region?: "geo";
  /** The member of an object that names the terms, and the prefix of the term's name. */
  member?: string;
  prefix?: string;
  /** The member's value for ordinary terms. */
  ordinary?: string;
}

/** The request fields that request special terms. */
export type PricedFields = Readonly<Record<string, PricedField>>;

const ORDINARY: readonly Billable[] = [];

/** The terms on which a request asks to be served. A term that two fields name counts once. */
export function askedTerms(body: JsonObject, fields: PricedFields): readonly Billable[] {
  let terms = ORDINARY;
  for (const field in fields) {
    const value = body[field];
    if (value === undefined || value === null) continue;
    const term = readTerm(value, fields[field] ?? {});
    if (term !== undefined && !terms.some(({ name }) => name === term.name))
      terms = [...terms, { kind: "term", name: term.name, path: field + term.below }];
  }
  return terms;
}

function readTerm(value: unknown, { region, member, prefix = "", ordinary }: PricedField) {
  if (member === undefined) {
    const name = termOf(value, region);
    return name === undefined ? undefined : { name, below: "" };
  }
  const word = isObject(value) ? value[member] : undefined;
  const name = word === ordinary ? undefined : termOf(word);
  return name === undefined ? undefined : { name: prefix + name, below: `.${member}` };
}

/** Only their names, as bills have them. */
export const namesOfTerms = (terms: readonly Billable[]): readonly string[] =>
  terms.length === 0 ? NO_NAMES : terms.map(({ name }) => name);

const NO_NAMES: readonly string[] = [];

/** How long a prompt stays in a host's cache. Longer than usual costs more. */
export const CACHE_LIFETIME = { member: "ttl", prefix: "cache-", ordinary: "30m" } as const;
