/** A date or a moment in milliseconds; undefined where it is none. */
export function readMoment(text: string): number | undefined {
  const ms = Date.parse(text);
  const [day] = /^\d{4}-\d\d-\d\d/.exec(text) ?? [];
  return Number.isNaN(ms) || (day !== undefined && !exists(day)) ? undefined : ms;
}

/** The runtime takes the 31st of February for the 3rd of March. */
function exists(day: string): boolean {
  const date = new Date(day);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
}
