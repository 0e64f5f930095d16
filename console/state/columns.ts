import { signal } from "@preact/signals";

/** The columns of the call list, in order. The time is always shown, because it links to the call. */
export const COLUMNS = [
  "outcome",
  "model",
  "key",
  "cost",
  "first_content",
  "total",
  "input",
  "cached",
  "output",
  "speed",
  "dialect",
  "remarks",
] as const;

export type ColumnName = (typeof COLUMNS)[number];

const KEY = "trivium.columns.hidden";
/** Hidden until they are chosen, so that the others fit a small screen. */
const USUALLY_HIDDEN: readonly ColumnName[] = ["dialect", "remarks"];
/** Stored if no column is hidden. */
const NONE = "none";

/** The hidden columns are stored, so that columns added by a later version are visible. */
export function readHidden(text: string | null): ReadonlySet<ColumnName> {
  if (text === null) return new Set(USUALLY_HIDDEN);
  const names = text.split(" ");
  return new Set(COLUMNS.filter((name) => names.includes(name)));
}

const stored = (): ReadonlySet<ColumnName> =>
  readHidden(typeof localStorage === "undefined" ? null : localStorage.getItem(KEY));

/** The columns hidden in this browser. */
export const hidden = signal<ReadonlySet<ColumnName>>(stored());

function choose(names: ReadonlySet<ColumnName>): void {
  hidden.value = names;
  localStorage.setItem(KEY, names.size === 0 ? NONE : [...names].join(" "));
}

export function showColumn(name: ColumnName, isShown: boolean): void {
  const names = new Set(hidden.value);
  if (isShown) names.delete(name);
  else names.add(name);
  choose(names);
}

export const showAllColumns = (): void => choose(new Set());
