import { signal } from "@preact/signals";

/** What a list of calls can show of each, in the order of the table. The time is always there: it leads to the call. */
export const COLUMNS = [
  "outcome",
  "model",
  "provider",
  "key",
  "first_content",
  "total",
  "input",
  "cached",
  "output",
  "speed",
  "cost",
  "dialect",
  "remarks",
] as const;

export type ColumnName = (typeof COLUMNS)[number];

const KEY = "trivium.columns.hidden";

/** What is kept are those that are hidden, so that a column of a later version is shown to whoever has not seen it. */
export function readHidden(text: string | null): ReadonlySet<ColumnName> {
  const names = (text ?? "").split(" ");
  return new Set(COLUMNS.filter((name) => names.includes(name)));
}

const stored = (): ReadonlySet<ColumnName> =>
  readHidden(typeof localStorage === "undefined" ? null : localStorage.getItem(KEY));

/** The columns that the reader of this browser does not want to see. */
export const hidden = signal<ReadonlySet<ColumnName>>(stored());

function choose(names: ReadonlySet<ColumnName>): void {
  hidden.value = names;
  if (names.size === 0) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, [...names].join(" "));
}

export function showColumn(name: ColumnName, isShown: boolean): void {
  const names = new Set(hidden.value);
  if (isShown) names.delete(name);
  else names.add(name);
  choose(names);
}

export const showAllColumns = (): void => choose(new Set());
