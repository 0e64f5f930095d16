import { explain } from "./explain.ts";
import { Facts, KINDS, type Kind, keyOf, type PlacedFact, VENDORS, type Vendor } from "./fact.ts";
import type { Declared } from "./read-facts.ts";

/** What a report compares. */
export interface Comparison {
  readonly date: string;
  /** The SDKs that this repository's tests use. */
  readonly pinned: Declared;
  /** What is compared with the gateway: the newest SDKs, or the pinned ones. */
  readonly newest: readonly Declared[];
  /** By vendor: the pinned version, then those of `newest`. */
  readonly versions: ReadonlyMap<Vendor, readonly string[]>;
  /** Why an SDK is not in the report. */
  readonly remarks: readonly string[];
}

interface Page {
  readonly text: string;
  /** How many names are unknown without a reason. */
  readonly open: number;
}

/** The report as Markdown. */
export function driftPage(comparison: Comparison): Page {
  const { pinned, newest } = comparison;
  const all = new Facts();
  for (const { facts } of newest)
    for (const fact of facts) for (const place of ["", ...fact.places]) all.add(fact, place);
  const { open, accepted, stale } = explain(
    all,
    newest.map(({ language }) => language),
  );
  const line = (fact: PlacedFact) => lineOf(fact, comparison);
  const isNew = (fact: PlacedFact) => pinned.facts.get(keyOf(fact)) === undefined;
  const missing = newest.flatMap(({ language, missing: types }) => types.map((type) => `- ${language}: ${type}`));
  const parts = [
    `# Drift report, ${comparison.date}`,
    "",
    ...versionTable(comparison),
    "",
    `${[...all].length} names compared: ${open.length} unknown (${open.filter(isNew).length} of them new), ${sizeOf(accepted)} unknown and accepted.`,
    "A name is known if a schema, table or mapping of the gateway names it: see docs/drift.md.",
    ...(comparison.remarks.length === 0 ? [] : ["", ...comparison.remarks.map((remark) => `- ${remark}`)]),
    ...section("Types that were not found", missing),
    ...kindSections(open, line),
    ...section("Known names that are new", added(all, isNew)),
    ...section("Names that the newest SDKs no longer declare", removed(all, comparison)),
    ...section(
      "Exceptions that no longer match",
      stale.map((key) => `- ${key}`),
    ),
    ...section(
      "Unknown and accepted",
      byCost(accepted).map(([reason, facts]) => `- ${reason} ${groups(facts)}`),
    ),
    "",
  ];
  return { text: parts.join("\n"), open: open.length };
}

/** The reasons, ordered by the most expensive kind of name that each explains. */
function byCost(accepted: ReadonlyMap<string, readonly PlacedFact[]>): [string, readonly PlacedFact[]][] {
  const order = Object.keys(KINDS);
  const rank = (facts: readonly PlacedFact[]) => Math.min(...facts.map(({ kind }) => order.indexOf(kind)));
  return [...accepted].sort(([, one], [, other]) => rank(one) - rank(other));
}

const sizeOf = (accepted: ReadonlyMap<string, readonly PlacedFact[]>): number =>
  [...accepted.values()].reduce((sum, facts) => sum + facts.length, 0);

function versionTable({ newest, versions }: Comparison): string[] {
  const columns = ["vendor", "pinned", ...newest.map(({ language }) => language)];
  const rows = [
    columns,
    columns.map(() => "---"),
    ...VENDORS.map((vendor) => [vendor, ...(versions.get(vendor) ?? [])]),
  ];
  return rows.map((cells) => `| ${cells.join(" | ")} |`);
}

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ["", `## ${title}`, "", ...lines];

/** By what an unknown name costs, the most first. */
function kindSections(open: readonly PlacedFact[], line: (fact: PlacedFact) => string): string[] {
  return (Object.keys(KINDS) as Kind[]).flatMap((kind) => {
    const facts = open.filter((fact) => fact.kind === kind);
    return facts.length === 0 ? [] : section(KINDS[kind].title, [KINDS[kind].cost, "", ...facts.map(line)]);
  });
}

const MAX_PLACES = 3;

function lineOf(fact: PlacedFact, { pinned, newest }: Comparison): string {
  const key = keyOf(fact);
  const languages = newest.filter(({ facts }) => facts.get(key) !== undefined).map(({ language }) => language);
  const places = [...fact.places];
  const at = places.slice(0, MAX_PLACES).map((place) => `\`${place}\``);
  const more = places.length > MAX_PLACES ? `, and ${places.length - MAX_PLACES} more` : "";
  const where = at.length === 0 ? "" : ` at ${at.join(", ")}${more}`;
  const since = pinned.facts.get(key) === undefined ? ", **new**" : "";
  return `- \`${fact.name}\`: ${fact.vendor} ${fact.protocol}${where}; ${languages.join(", ")}${since}`;
}

/** Names by vendor, protocol and kind: `OpenAI chat, parameter: \`a\`, \`b\``. */
function groups(facts: readonly PlacedFact[]): string {
  const named = new Map<string, string[]>();
  for (const { vendor, protocol, kind, name } of facts) {
    const group = `${vendor} ${protocol}, ${kind}`;
    named.set(group, [...(named.get(group) ?? []), `\`${name}\``]);
  }
  return [...named].map(([group, names]) => `${group}: ${names.join(", ")}.`).join(" ");
}

const added = (all: Facts, isNew: (fact: PlacedFact) => boolean): string[] => {
  const found = [...all].filter((fact) => fact.known && isNew(fact));
  return found.length === 0 ? [] : [groups(found)];
};

function removed(all: Facts, { pinned }: Comparison): string[] {
  const found = [...pinned.facts].filter((fact) => all.get(keyOf(fact)) === undefined);
  return found.length === 0 ? [] : [groups(found)];
}
