/** A text of a hostile host, one part of which is repeated until there are as many bytes as are needed. */
export interface Attack {
  name: string;
  /** A prefix, the part that is repeated, and a suffix. */
  head?: string;
  part: (index: number) => string;
  tail?: string;
  /** Where all of that is one frame, of which the length comes first. */
  wrap?: (text: string) => string;
}

/** Elements of a JSON list. */
export const list =
  (part: (index: number) => unknown) =>
  (index: number): string =>
    `${index === 0 ? "" : ","}${JSON.stringify(part(index))}`;

/** Parts that can be repeated inside one JSON string. */
export const LONG_TEXTS: readonly Attack[] = [
  { name: "one long text", part: () => "word\\n".repeat(100) },
  { name: "one text of escapes", part: () => "\\u00e9\\ud83d\\ude80".repeat(30) },
  // One byte per character, which is not valid UTF-8.
  { name: "one text that is not UTF-8", part: () => "\xff".repeat(400) },
];

/** What can be repeated inside one list of JSON that nobody reads. */
export const TINY_VALUES: readonly Attack[] = [
  { name: "tiny values", part: list(() => 1) },
  { name: "tiny objects", part: list(() => ({})) },
  { name: "lists in lists", part: () => "[" },
];

/** The same attacks with these around them. */
export const around = (attacks: readonly Attack[], prefix: string, head: string, tail: string): Attack[] =>
  attacks.map((attack) => ({ ...attack, name: `${prefix}${attack.name}`, head, tail }));
