/** The names of fields that an object may have, from a list separated by blanks. */
export function names(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/));
}
