/** What was found, in words: never the text itself. */
export const labelsOf = (labels: Iterable<string>): string =>
  [...new Set(labels)]
    .map((label) => label.replaceAll("_", " "))
    .sort()
    .join(", ");
