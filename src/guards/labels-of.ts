import type { TextMatch } from "./find/text-match.ts";

/** What was found, in words: never the text itself. */
export const labelsOf = (matches: readonly TextMatch[]): string =>
  [...new Set(matches.map(({ label }) => label.replaceAll("_", " ")))].sort().join(", ");
