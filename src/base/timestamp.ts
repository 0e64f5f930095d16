/** A date or time in milliseconds; undefined if invalid. */
export function readTimestamp(text: string): number | undefined {
  const ms = Date.parse(text);
  const [day] = /^\d{4}-\d\d-\d\d/.exec(text) ?? [];
  return Number.isNaN(ms) || (day !== undefined && !isDay(day)) ? undefined : ms;
}

export function isDay(text: string): boolean {
  // Engines differ on days that a month does not have; a round trip does not.
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const day = new Date(text);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}
