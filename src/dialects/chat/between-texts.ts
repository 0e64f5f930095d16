const PARAGRAPH = "\n\n";

/**
 * What stands between two texts of an answer that something else stood between, such as a search of the provider's: here they are one text,
 * and would run together. Nothing where one of them brings a line's end of its own.
 */
export function betweenTexts(before: string, text: string): string {
  return before === "" || text === "" || before.endsWith("\n") || text.startsWith("\n") ? "" : PARAGRAPH;
}
