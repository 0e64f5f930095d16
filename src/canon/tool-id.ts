/** What tool call ids may look like in a protocol or at a provider. */
export interface ToolIdRule {
  pattern: RegExp;
  /** Makes a valid id from letters and digits. */
  make: (seed: string) => string;
}

/** The id itself if it is valid, or else one derived from it, which is the same for a call and its result. */
export function fitToolId(id: string, rule: ToolIdRule | undefined): string {
  return rule === undefined || rule.pattern.test(id) ? id : rule.make(digestOfText(id));
}

/** Thirteen letters and digits that depend on every character of the text. */
export function digestOfText(text: string): string {
  let high = 0x811c9dc5;
  let low = 0x01000193;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    high = Math.imul(high ^ code, 0x01000193);
    low = Math.imul(low ^ code ^ (high >>> 13), 0x5bd1e995);
  }
  const word = (value: number) => (value >>> 0).toString(36).padStart(7, "0");
  return (word(high) + word(low)).slice(-13);
}
