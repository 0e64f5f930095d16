export interface Change {
  name: string;
  before: string | undefined;
  after: string | undefined;
}

const shown = (value: unknown): string | undefined =>
  value === undefined ? undefined : typeof value === "string" ? value : JSON.stringify(value);

const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : value === null || value === undefined
      ? {}
      : { value };

/** A new object has many empty fields; these are not listed. */
const isEmpty = (text: string | undefined): boolean =>
  text === undefined || ["null", "{}", "[]", "false", ""].includes(text);

/** The differences between two states of an object, field by field. */
export function changesOf(before: unknown, after: unknown): Change[] {
  const was = fieldsOf(before);
  const is = fieldsOf(after);
  return [...new Set([...Object.keys(was), ...Object.keys(is)])]
    .map((name) => ({ name, before: shown(was[name]), after: shown(is[name]) }))
    .filter(({ before: old, after: now }) => old !== now && !(isEmpty(old) && isEmpty(now)));
}
