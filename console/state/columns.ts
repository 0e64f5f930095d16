import { signal } from "@preact/signals";

/** The columns of the call list, in order. The time is always shown, because it links to the call. */
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

/** The hidden columns are stored, so that columns added by a later version are visible. */
export function readHidden(text: string | null): ReadonlySet<ColumnName> {
  const names = (text ?? "").split(" ");
  return new Set(COLUMNS.filter((name) => names.includes(name)));
}

const stored = (): ReadonlySet<ColumnName> =>
  readHidden(typeof localStorage === "undefined" ? null : localStorage.getItem(KEY));

/** The columns hidden in this browser. */
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
