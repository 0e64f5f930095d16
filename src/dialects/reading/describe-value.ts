const MAX_QUOTE = 48;

/** The value, worded to complete the sentence "it is …": short, and never a whole document. */
export function describeValue(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (typeof value === "string") return JSON.stringify(abbreviate(value));
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object") return "an object";
  return String(value);
}

function abbreviate(text: string): string {
  return text.length <= MAX_QUOTE ? text : `${text.slice(0, MAX_QUOTE).toWellFormed()}…`;
}
